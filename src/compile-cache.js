/**
 * Keeps the stripped and compiled code of every module from one start to the next. Loaded before
 * the service (`--import`). The type stripper is then not loaded, which saves about 30 MB of memory
 * and makes the start quicker. This file is JavaScript, since it would itself have to be stripped.
 * When the folder cannot be written, the service runs without the cache. Node's own
 * `NODE_COMPILE_CACHE=<folder>` moves the cache; `NODE_DISABLE_COMPILE_CACHE=1` turns it off.
 */
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const MAJOR = 24
const MINOR = 6

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < MAJOR || (major === MAJOR && minor < MINOR)) {
  console.error(
    `coatcheck needs Node ${MAJOR}.${MINOR} or later, and this is ${process.versions.node}. On Linux, "npm ci" installs one as node_modules/.bin/node, which "npm start" uses. Run it again without --omit=optional, or install Node ${MAJOR}.`,
  )
  process.exit(1)
}

const FOLDER = fileURLToPath(new URL('../node_modules/.cache/coatcheck', import.meta.url))

// Worker threads read the folder from the environment.
process.env.NODE_COMPILE_CACHE ??= FOLDER
module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
