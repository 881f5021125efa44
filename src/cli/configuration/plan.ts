import type * as z from 'zod'
import { type FieldIssue, InvalidInput } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json/json-object.ts'
import { PARSE_OPTIONS, toFieldIssues } from '../../schema/input-shapes.ts'
import type { Body } from '../api/public-api.ts'
import type { Configuration } from './file.ts'
import { HELD, KINDS, type Kind, SETTING_SECRETS, SETTINGS, SETTINGS_ROUTES } from './kinds.ts'
import { findReferences, resolveIds, resolveOutside, toReference } from './references.ts'
import { numberKeys, type State, type Stored } from './state.ts'

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0)

const toSorted = (items: readonly unknown[]): unknown[] =>
  [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

const haveObjects = (items: readonly unknown[]): boolean => items.some(isJsonObject)

/**
 * Whether a value of a file is the stored one. Members of nested objects that the file leaves out are empty; the order of
 * objects in a list, which the server sorts, does not count.
 */
function isSame(given: unknown, stored: unknown): boolean {
  if (Array.isArray(given) && Array.isArray(stored)) {
    if (given.length !== stored.length) return false
    if (!haveObjects(given)) return given.every((item, index) => isSame(item, stored[index]))
    const rest = toSorted(stored)
    return toSorted(given).every((item) => {
      const index = rest.findIndex((other) => isSame(item, other))
      if (index >= 0) rest.splice(index, 1)
      return index >= 0
    })
  }
  if (isJsonObject(given) && isJsonObject(stored)) {
    const names = new Set([...Object.keys(given), ...Object.keys(stored)])
    return [...names].every((name) =>
      given[name] === undefined ? isEmpty(stored[name]) : isSame(given[name], stored[name]),
    )
  }
  return given === stored || (given === '' && stored === null)
}

/** A member that changes, as the file writes it; a secret has no values. */
export type Difference = { member: string; from?: unknown; to?: unknown }

/** One step of an apply. `kind` is null for the settings. */
export type Step = {
  kind: Kind | null
  key: string
  /** Where the file has it. */
  path: string
  action: 'create' | 'update' | 'delete'
  id: string | null
  /** What is sent, with references to objects; of a deletion, what the object has. */
  body: Body
  /** References to the roles that it holds from then on; undefined where they stay. */
  held?: unknown
  differences: Difference[]
}

/** An id that no shape rejects, of an object that is not there yet. */
const PENDING = 'pending_01k7r3m8wxe4gbr5v2c9t6hznq'

const toJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

/** The value of each member after its shape, which may write it in another way. */
function parseMembers(shape: z.ZodType | undefined, body: Body): Body {
  const members = (shape as z.ZodObject).shape as Record<string, z.ZodType>
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      toJson(members[name]?.safeParse(value, PARSE_OPTIONS).data ?? value),
    ]),
  )
}

type Options = { prune: boolean; updateSecrets: boolean; callerId?: string | undefined }

/** The steps, each after those that it names, such as a group after its parent. */
function orderSteps(steps: readonly Step[]): Step[] {
  const waiting = new Map(
    steps.map((step) => [
      step.kind && step.action !== 'update' ? toReference(step.kind.section, step.key) : step.path,
      step,
    ]),
  )
  const ordered: Step[] = []
  const add = (name: string): void => {
    const step = waiting.get(name)
    if (!step) return
    waiting.delete(name)
    for (const reference of findReferences(step.body)) add(reference)
    ordered.push(step)
  }
  for (const name of [...waiting.keys()]) add(name)
  return ordered
}

/** Compares a file with a tenant. */
class Planner {
  readonly issues: FieldIssue[] = []
  readonly #state: State
  readonly #options: Options
  readonly #known: Set<string>

  constructor(configuration: Configuration, state: State, options: Options) {
    this.#state = state
    this.#options = options
    const given = [...configuration.entries].flatMap(([kind, entries]) =>
      numberKeys(entries.map((entry) => String(entry[kind.key]))).map((key) =>
        toReference(kind.section, key),
      ),
    )
    this.#known = new Set([...state.ids.keys(), ...given])
  }

  #validate(shape: z.ZodType | undefined, body: Body, path: string): void {
    const parsed = shape?.safeParse(resolveIds(body, this.#state.ids, PENDING), PARSE_OPTIONS)
    for (const { field, description } of parsed?.error ? toFieldIssues(parsed.error) : [])
      this.issues.push({ field: `${path}.${field}`, description })
    for (const reference of findReferences(body))
      if (!this.#known.has(reference))
        this.issues.push({
          field: path,
          description: `${reference} is neither in the file nor in the tenant`,
        })
  }

  /** The members of an entry that differ from those of the tenant. */
  #compare(
    shape: z.ZodType | undefined,
    entry: Body,
    stored: Body,
    path: string,
  ): { body: Body; differences: Difference[] } {
    const resolved = resolveOutside(entry, this.issues, path) as Body
    const parsed = parseMembers(shape, resolved)
    const names = Object.keys(entry).filter(
      (name) => !isSame(resolved[name], stored[name]) && !isSame(parsed[name], stored[name]),
    )
    return {
      body: Object.fromEntries(names.map((name) => [name, resolved[name]])),
      differences: names.map((member) => ({ member, from: stored[member], to: entry[member] })),
    }
  }

  planSettings(entry: Body): Step[] {
    const { body: shape } = SETTINGS_ROUTES.update
    const given = Object.entries(entry)
    const plain = Object.fromEntries(given.filter(([name]) => !(name in SETTING_SECRETS)))
    const { body, differences } = this.#compare(shape, plain, this.#state.settings, SETTINGS)
    // A secret goes with a change of its server, such as mailServerPassword with mailServer.
    const isDue = (secret: string) =>
      this.#options.updateSecrets ||
      differences.some(({ member }) => member.startsWith(secret.replace(/[A-Z][a-z]+$/, '')))
    for (const [name, value] of given)
      if (name in SETTING_SECRETS && isDue(name)) {
        body[name] = resolveOutside(value, this.issues, `${SETTINGS}.${name}`)
        differences.push({ member: name })
      }
    if (differences.length === 0) return []
    this.#validate(shape, body, SETTINGS)
    return [{ kind: null, key: SETTINGS, path: SETTINGS, action: 'update', id: null, body, differences }]
  }

  #planCreation(kind: Kind, key: string, path: string, entry: Body): Step {
    const { [HELD]: held, ...body } = resolveOutside(entry, this.issues, path) as Body
    this.#validate(kind.create.body, body, path)
    const differences = Object.keys(entry).map((member) => ({
      member,
      ...(!(member in kind.secrets) && { to: entry[member] }),
    }))
    const isHeld = Array.isArray(held) && held.length > 0
    return { kind, key, path, action: 'create', id: null, body, ...(isHeld && { held }), differences }
  }

  /** Whether a secret is sent: the object has none, or names other headers, or the command says so. */
  #isSecretDue({ secrets }: Kind, { row }: Stored, name: string, value: unknown): boolean {
    if (this.#options.updateSecrets) return true
    const present = row[secrets[name] ?? '']
    if (!Array.isArray(present)) return present !== true
    const names = Array.isArray(value) ? value.map((item) => (item as { name?: unknown }).name) : []
    return !isSame([...names].sort(), [...present].sort())
  }

  #planUpdate(kind: Kind, stored: Stored, path: string, entry: Body): Step[] {
    const plain = Object.fromEntries(Object.entries(entry).filter(([name]) => !(name in kind.secrets)))
    const due = Object.keys(entry).filter(
      (name) => name in kind.secrets && this.#isSecretDue(kind, stored, name, entry[name]),
    )
    const { body, differences } = this.#compare(kind.update.body, plain, stored.members, path)
    const { [HELD]: held, ...changes } = body
    for (const name of due) changes[name] = resolveOutside(entry[name], this.issues, `${path}.${name}`)
    if (Object.keys(changes).length > 0) this.#validate(kind.update.body, changes, path)
    const all = [...differences, ...due.map((member) => ({ member }))]
    if (all.length === 0) return []
    const { id, key } = stored
    return [
      {
        kind,
        key,
        path,
        action: 'update',
        id,
        body: changes,
        ...(held !== undefined && { held }),
        differences: all,
      },
    ]
  }

  planKind(kind: Kind, entries: readonly Body[]): Step[] {
    const rest = new Map((this.#state.objects.get(kind) ?? []).map((stored) => [stored.key, stored]))
    const keys = numberKeys(entries.map((entry) => String(entry[kind.key])))
    return entries.flatMap((entry, index) => {
      const key = keys[index] ?? ''
      const path = `${kind.section}.${index}`
      const stored = rest.get(key)
      return stored
        ? this.#planUpdate(kind, stored, path, entry)
        : [this.#planCreation(kind, key, path, entry)]
    })
  }

  planRemovals(kind: Kind, entries: readonly Body[]): Step[] {
    const keys = new Set(numberKeys(entries.map((entry) => String(entry[kind.key]))))
    const surplus = (this.#state.objects.get(kind) ?? []).filter(
      ({ id, key }) => !keys.has(key) && id !== this.#options.callerId,
    )
    const removals = surplus.map(
      ({ id, key, members }): Step => ({
        kind,
        key,
        path: kind.section,
        action: 'delete',
        id,
        body: members,
        differences: [],
      }),
    )
    return orderSteps(removals).reverse()
  }
}

/**
 * The steps that make a tenant what a file says, in their order; none when it is already. Throws InvalidInput that names
 * every faulty member by its path.
 */
export function planSteps(configuration: Configuration, state: State, options: Options): Step[] {
  const planner = new Planner(configuration, state, options)
  const { settings, entries } = configuration
  // Settings name management roles, and nothing else names settings.
  const changes = [...entries].flatMap(([kind, list]) => planner.planKind(kind, list))
  const [roles, others] = [
    changes.filter(({ kind }) => kind === KINDS[0]),
    changes.filter(({ kind }) => kind !== KINDS[0]),
  ]
  const own = settings ? planner.planSettings(settings) : []
  const removals = options.prune
    ? [...entries].reverse().flatMap(([kind, list]) => planner.planRemovals(kind, list))
    : []
  if (planner.issues.length > 0) throw new InvalidInput(planner.issues, 'The file is not valid.')
  return [...orderSteps([...roles, ...own, ...others]), ...removals]
}
