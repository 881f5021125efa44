import { readFileSync } from 'node:fs'
import { env } from '../core/env.ts'
import { PACKAGE_ROOT } from '../core/package-root.ts'

const FILE = new URL('dist/console/documents.json', PACKAGE_ROOT)

let documents: ReadonlyMap<string, string> | undefined

/** The text of a document of the console of this build, by its SHA-256, under which the build of the console has written it. */
export function findConsoleDocument(hash: string): string | undefined {
  if (!env.console) return undefined
  documents ??= readDocuments()
  return documents?.get(hash)
}

/** Undefined where the console is not built. */
function readDocuments(): ReadonlyMap<string, string> | undefined {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, string>))
  } catch {
    return undefined
  }
}
