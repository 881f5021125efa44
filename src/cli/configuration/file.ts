import { parseDocument, stringify } from 'yaml'
import { type FieldIssue, InvalidInput } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json/json-object.ts'
import type { Body } from '../api/public-api.ts'
import { KINDS, type Kind, SETTING_NAMES, SETTINGS } from './kinds.ts'

/** The version of the format. */
const VERSION = 1
const VERSION_MEMBER = 'vestibule'

/** What a file says about a tenant. A section that it does not have is left alone. */
export type Configuration = { settings: Body | null; entries: Map<Kind, Body[]> }

const HEADER = `# The configuration of a tenant. vestibule tenant diff and apply read it.
# A member that is left out is not changed. \${env:NAME} and \${file:PATH} stand for secrets.
`

/** The file of a configuration. */
export const writeConfiguration = ({ settings, entries }: Configuration): string =>
  HEADER +
  stringify(
    {
      [VERSION_MEMBER]: VERSION,
      ...(settings && { [SETTINGS]: settings }),
      ...Object.fromEntries([...entries].map(([{ section }, rows]) => [section, rows])),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  )

const NOT_VALID = 'The file is not valid.'

function readEntries(kind: Kind, value: unknown, issues: FieldIssue[]): Body[] {
  const { section, key, members } = kind
  if (!Array.isArray(value)) {
    issues.push({ field: section, description: 'must be a list' })
    return []
  }
  return value.flatMap((entry: unknown, index) => {
    const path = `${section}.${index}`
    if (!isJsonObject(entry)) {
      issues.push({ field: path, description: 'must be an object' })
      return []
    }
    if (typeof entry[key] !== 'string') issues.push({ field: `${path}.${key}`, description: 'is required' })
    for (const name of Object.keys(entry))
      if (!members.includes(name))
        issues.push({ field: `${path}.${name}`, description: `is not a member of ${section}` })
    return [entry]
  })
}

function readSettings(value: unknown, issues: FieldIssue[]): Body | null {
  if (value === undefined) return null
  if (!isJsonObject(value)) {
    issues.push({ field: SETTINGS, description: 'must be an object' })
    return null
  }
  for (const name of Object.keys(value))
    if (!SETTING_NAMES.includes(name))
      issues.push({ field: `${SETTINGS}.${name}`, description: 'is not a setting' })
  return value
}

/** Reads a file. Throws InvalidInput that names every unknown member by its path. */
export function readConfiguration(text: string): Configuration {
  const document = parseDocument(text)
  if (document.errors.length > 0)
    throw new InvalidInput(
      document.errors.map(({ message }) => ({ field: 'file', description: message.split('\n', 1)[0] ?? '' })),
      NOT_VALID,
    )
  // Aliases may not blow up a short file.
  const file: unknown = document.toJS({ maxAliasCount: 100 })
  if (!isJsonObject(file) || file[VERSION_MEMBER] !== VERSION)
    throw new InvalidInput(
      [{ field: VERSION_MEMBER, description: `must be ${VERSION}, the version of the format` }],
      NOT_VALID,
    )
  const issues: FieldIssue[] = []
  const settings = readSettings(file[SETTINGS], issues)
  const entries = new Map<Kind, Body[]>()
  for (const kind of KINDS)
    if (file[kind.section] !== undefined) entries.set(kind, readEntries(kind, file[kind.section], issues))
  const known = [VERSION_MEMBER, SETTINGS, ...KINDS.map(({ section }) => section)]
  for (const name of Object.keys(file))
    if (!known.includes(name)) issues.push({ field: name, description: 'is not a section' })
  if (issues.length > 0) throw new InvalidInput(issues, NOT_VALID)
  return { settings, entries }
}
