import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from '../env.ts'

export const keptFile = (name: string): string => join(env.dataDir, name)

function readKept<Value>(name: string): Value | null {
  try {
    return JSON.parse(readFileSync(keptFile(name), 'utf8')) as Value
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${keptFile(name)} cannot be read; mend or delete it`, { cause: error })
  }
}

/**
 * What the file says, or `fresh` where there is none: then it is written, readable by this user only. Processes that
 * start at once write the same. What `fresh` has and the file lacks is added.
 */
export function keepFile<Value extends object>(name: string, fresh: Value): Value {
  const kept = readKept<Value>(name)
  const value = { ...fresh, ...kept }
  if (kept && Object.keys(fresh).every((key) => Object.hasOwn(kept, key))) return value
  mkdirSync(env.dataDir, { recursive: true, mode: 0o700 })
  const draft = `${keptFile(name)}.${randomUUID()}`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(draft, keptFile(name))
  return value
}
