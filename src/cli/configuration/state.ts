import type { Body, Call } from '../api/public-api.ts'
import type { Configuration } from './file.ts'
import { KINDS, type Kind, SETTING_NAMES, SETTING_SECRETS, SETTINGS_ROUTES } from './kinds.ts'
import { type Ids, toFileValue, toReference } from './references.ts'

/** An object of the tenant: its key in the file, and its members as the file has them. */
export type Stored = { id: string; key: string; members: Body; row: Body }

/** What a tenant has of each section. */
export type State = { settings: Body; objects: Map<Kind, Stored[]>; ids: Ids }

/** The keys of a list: a second object of the same name is `name#2`. */
export function numberKeys(names: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count === 1 ? name : `${name}#${count}`
  })
}

/** Reads a tenant. */
export async function readState(call: Call): Promise<State> {
  const rows = new Map<Kind, Body[]>()
  for (const kind of KINDS) rows.set(kind, await kind.list(call))
  const { body: settings } = await call(SETTINGS_ROUTES.get.operationId)
  const references = new Map<string, string>()
  const keys = new Map<Kind, string[]>()
  for (const [kind, list] of rows) {
    const numbered = numberKeys(list.map((row) => String(row[kind.key])))
    keys.set(kind, numbered)
    for (const [index, row] of list.entries()) {
      const reference = toReference(kind.section, numbered[index] ?? '')
      // The id of an identity provider is a name that the caller chose.
      if (kind.key !== 'id') references.set(String(row.id), reference)
    }
  }
  const pick = (row: Body, names: readonly string[]) =>
    toFileValue(Object.fromEntries(names.map((name) => [name, row[name]])), references) as Body
  const objects = new Map(
    [...rows].map(([kind, list]) => {
      const names = kind.members.filter((name) => !(name in kind.secrets))
      const stored = list.map((row, index) => ({
        id: String(row.id),
        key: keys.get(kind)?.[index] ?? '',
        members: pick(row, names),
        row,
      }))
      return [kind, stored] as const
    }),
  )
  const ids = new Map([...references].map(([id, reference]) => [reference, id]))
  const names = SETTING_NAMES.filter((name) => !(name in SETTING_SECRETS))
  return { settings: pick(settings, names), objects, ids }
}

/** `Partner IdP` and `clientSecret` are `PARTNER_IDP_CLIENT_SECRET`. */
const toVariable = (...words: string[]): string =>
  words
    .join('_')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/\W+/g, '_')
    .toUpperCase()

/** A reference for each secret that an object has. */
function nameSecrets({ secrets }: Kind, { key, row }: Stored): Body {
  const present = Object.entries(secrets).filter(([, presence]) => {
    const value = row[presence]
    return Array.isArray(value) ? value.length > 0 : value === true
  })
  return Object.fromEntries(
    present.map(([secret, presence]) => {
      const names = row[presence]
      const refer = (...words: string[]) => `\${env:${toVariable(key, ...words)}}`
      const value = Array.isArray(names)
        ? names.map((name: string) => ({ name, value: refer(name) }))
        : refer(secret)
      return [secret, value]
    }),
  )
}

/** The configuration of a tenant, with references in place of its secrets. */
export const toConfiguration = ({ settings, objects }: State): Configuration => ({
  settings: {
    ...settings,
    ...Object.fromEntries(
      Object.entries(SETTING_SECRETS)
        .filter(([, owner]) => settings[owner] !== null)
        .map(([secret]) => [secret, `\${env:${toVariable(secret)}}`]),
    ),
  },
  entries: new Map(
    [...objects].map(([kind, list]) => [
      kind,
      list.map((stored) => ({ ...stored.members, ...nameSecrets(kind, stored) })),
    ]),
  ),
})
