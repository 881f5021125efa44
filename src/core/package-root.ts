import { existsSync } from 'node:fs'

function findPackageRoot(from: URL): URL {
  if (existsSync(new URL('package.json', from))) return from
  const parent = new URL('..', from)
  if (parent.href === from.href) throw new Error('package.json was not found')
  return findPackageRoot(parent)
}

/** The directory of package.json: the program runs from src, and bundled from dist. */
export const PACKAGE_ROOT = findPackageRoot(new URL('.', import.meta.url))
