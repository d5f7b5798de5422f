/**
 * Keeps the stripped and compiled code of every module from one start to the next. Loaded before
 * the service (`--import`). The type stripper is then not loaded, which saves about 30 MB of memory
 * and makes the start quicker. This file is JavaScript, since it would itself have to be stripped.
 * When the folder cannot be written, the service runs without the cache. Node's own
 * `NODE_COMPILE_CACHE=<folder>` moves the cache; `NODE_DISABLE_COMPILE_CACHE=1` turns it off.
 */
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const NODE = 24

if (Number.parseInt(process.versions.node, 10) < NODE) {
  console.error(
    `coatcheck needs Node ${NODE} or later, and this is ${process.versions.node}. "npm start" runs the one that npm installed: node_modules/.bin/node.`,
  )
  process.exit(1)
}

const FOLDER = fileURLToPath(new URL('../node_modules/.cache/coatcheck', import.meta.url))

// Worker threads read the folder from the environment.
process.env.NODE_COMPILE_CACHE ??= FOLDER
module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
