// The packed package as a user has it: installed in the folder that PACKAGE_DIR names (scripts/test.mjs makes it).
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const { PACKAGE_DIR } = process.env;
assert(PACKAGE_DIR, 'PACKAGE_DIR must name a folder in which the packed package is installed');

/** The address of the Node entry, to import. */
export const entry = pathToFileURL(join(PACKAGE_DIR, 'node_modules/transcript-projection/dist/node.js')).href;
