/**
 * The version of this release, as `package.json` has it; `npm run release` holds them to each
 * other.
 */
export const VERSION = '0.1.0'
