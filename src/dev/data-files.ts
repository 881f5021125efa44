import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from '../core/env.ts'

export const resolveDataFile = (name: string): string => join(env.dataDir, name)

function readDataFile<Value>(name: string): Value | null {
  try {
    return JSON.parse(readFileSync(resolveDataFile(name), 'utf8')) as Value
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${resolveDataFile(name)} cannot be read; correct or delete it`, { cause: error })
  }
}

/**
 * The content of the file, or `fresh` when it does not exist: then the file is written with mode 0600.
 * Processes that start concurrently write the same content. Members of `fresh` that the file lacks are added.
 */
export function ensureDataFile<Value extends object>(name: string, fresh: Value): Value {
  const kept = readDataFile<Value>(name)
  const value = { ...fresh, ...kept }
  if (kept && Object.keys(fresh).every((key) => Object.hasOwn(kept, key))) return value
  mkdirSync(env.dataDir, { recursive: true, mode: 0o700 })
  const draft = `${resolveDataFile(name)}.${randomUUID()}`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(draft, resolveDataFile(name))
  return value
}
