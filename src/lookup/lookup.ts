import { isClientId } from '../access/client-ids.ts'
import { requireAnyScope } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { normalizeIp } from '../core/network/ip.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { listEvents } from '../events/list.ts'
import { type LogEvent, toLogEvent } from '../events/log.ts'
import { isEmailLike, toAddressKey } from '../schema/address-keys.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { toPhoneNumberKey } from '../schema/phone-numbers.ts'
import { isKindReadable, LOOKUP_SCOPES, LookupInput, type LookupKind, MAX_MATCHES } from './lookup.fields.ts'
import { KINDS_BY_PREFIX, type LookupRow, type Search, selectEvent, selectMatches } from './lookup.sql.ts'

export type LookupMatch = LookupRow & { event: LogEvent | null }

/** Where the log has a text, as the value of a member of its filter: the first event, or the newest. */
type LogSearch = {
  kind: LookupKind
  by: 'requestId' | 'deviceId' | 'ip' | 'address' | 'subjectId'
  value: string
  isFirst?: true
}
type Searches = { objects: Search[]; log: LogSearch[] }

const URL_SYNTAX = /^[a-z][a-z0-9+.-]*:\/\S*$/i
/** The form of the ids of devices, which are hashes. */
const DEVICE_ID = /^[A-Za-z0-9_-]{43}$/

/** Lists what a text may name by its form: each text has one. */
export function listSearches(text: string): Searches {
  const prefix = readIdPrefix(text)
  if (prefix) {
    const kind = KINDS_BY_PREFIX[prefix]
    return {
      objects: kind ? [{ kind, by: 'id', value: text }] : [],
      log: prefix === 'event' ? [] : [{ kind: 'subject', by: 'subjectId', value: text }],
    }
  }
  const ip = normalizeIp(text)
  if (ip !== null)
    return {
      objects: [{ kind: 'session', by: 'lastSeenIp', value: ip }],
      log: [{ kind: 'ip-address', by: 'ip', value: ip }],
    }
  const named: Search[] = [
    { kind: 'user', by: 'externalId', value: text },
    { kind: 'organization', by: 'externalId', value: text },
    { kind: 'api', by: 'identifier', value: text },
    { kind: 'app-role', by: 'name', value: text },
    { kind: 'group', by: 'name', value: text },
  ]
  if (URL_SYNTAX.test(text) && URL.canParse(text)) {
    const { origin } = new URL(text)
    return {
      objects: [
        { kind: 'client', by: 'uri', value: text, origin: origin === 'null' ? null : origin },
        { kind: 'webhook', by: 'url', value: text },
        ...named,
      ],
      log: [],
    }
  }
  const key = toAddressKey(text)
  const log: LogSearch[] = key === null ? [] : [{ kind: 'address', by: 'address', value: text }]
  if (isEmailLike(text))
    return {
      objects: [
        ...(key === null
          ? []
          : ([
              { kind: 'user', by: 'email', value: key },
              { kind: 'invitation', by: 'email', value: key },
            ] as const)),
        ...named,
      ],
      log,
    }
  const phoneNumber = toPhoneNumberKey(text)
  const objects: Search[] =
    phoneNumber === null ? [] : [{ kind: 'user', by: 'phoneNumber', value: phoneNumber }]
  objects.push(...named)
  if (!isClientId(text)) return { objects, log }
  return {
    objects: [
      ...(['client', 'identity-provider', 'tenant', 'signing-key'] as const).map(
        (kind): Search => ({ kind, by: 'id', value: text }),
      ),
      { kind: 'organization', by: 'slug', value: text },
      { kind: 'organization-domain', by: 'domain', value: text.toLowerCase() },
      ...objects,
    ],
    log: [
      ...log,
      { kind: 'request', by: 'requestId', value: text, isFirst: true },
      ...(DEVICE_ID.test(text) ? [{ kind: 'device', by: 'deviceId', value: text } as const] : []),
    ],
  }
}

/** Whether the caller may read a match. Of tenants, all but the own one are for operators. */
const canRead = ({ tenant, scopes }: Ctx, { kind, value }: Search): boolean =>
  kind === 'tenant' && value !== tenant
    ? tenant === SYSTEM_TENANT && scopes.has('tenants:read')
    : isKindReadable(kind, scopes)

const toEventMatch = (kind: LookupKind, id: string, event: LogEvent): LookupMatch => ({
  kind,
  id,
  matchedBy: 'id',
  name: null,
  userId: kind === 'event' ? event.userId : null,
  event,
})

async function findInLog(ctx: Ctx, { kind, by, value, isFirst }: LogSearch): Promise<LookupMatch[]> {
  const direction = isFirst ? 'asc' : 'desc'
  const { rows } = await listEvents(ctx, { filter: { [by]: value }, direction, first: 1 })
  return rows.map((event) => toEventMatch(kind, value, event))
}

async function findEvent(ctx: Ctx, id: string): Promise<LookupMatch[]> {
  const row = await selectEvent(ctx.db, id)
  return row ? [toEventMatch('event', id, toLogEvent(row))] : []
}

async function findObjects(ctx: Ctx, searches: readonly Search[]): Promise<LookupMatch[]> {
  const readable = searches.filter((search) => canRead(ctx, search))
  if (readable.length === 0) return []
  return (await selectMatches(ctx.db, readable)).map((row) => ({ ...row, event: null }))
}

/**
 * Finds what a text names: up to MAX_MATCHES objects of the tenant, requests and addresses, the best match first. Matches
 * that the caller may not read are left out. At most three statements. Throws Forbidden and InvalidInput.
 */
export async function lookup(ctx: Ctx, input: unknown): Promise<LookupMatch[]> {
  requireAnyScope(ctx, LOOKUP_SCOPES)
  const { text } = parseInput(LookupInput, input)
  const { objects, log } = listSearches(text)
  const canReadLog = ctx.scopes.has('events:read')
  const [found, ...logged] = await Promise.all([
    findObjects(ctx, objects),
    ...(canReadLog ? log.map((search) => findInLog(ctx, search)) : []),
    ...(canReadLog && readIdPrefix(text) === 'event' ? [findEvent(ctx, text)] : []),
  ])
  // The log has the ids of objects that exist, too.
  const others = logged.flat().filter(({ kind }) => kind !== 'subject' || found.length === 0)
  return [...found, ...others].slice(0, MAX_MATCHES)
}
