import { TypeID } from 'typeid-js'
import type { IdPrefix } from '../../src/core/crypto.ts'
import { createPlaces } from './places.ts'
import { createRandom, type Random } from './random.ts'

/** What precedes the key in a COSE key for Ed25519 (RFC 9053, section 7.2). */
const COSE_ED25519 = Buffer.from('a4010103272006215820', 'hex')
const DAY_MS = 86_400_000
/** The age of the oldest user. */
export const AGE_MS = 3 * 365 * DAY_MS

export type SeedOptions = {
  users: number
  /** Approximate number of sessions that are active or ended recently. */
  sessions: number
  randomSeed: number
  /** Ids of the clients that users sign in to. */
  clientIds: readonly string[]
  /** The newest possible time. */
  until: Date
}

/** Rows for one user, by table. */
export type SeededUser = {
  user: Record<string, unknown> & { id: string; createdAt: Date }
  credential: object | null
  idpUser: object | null
  sessions: object[]
  events: object[]
}

export const IDP_ID = 'partner'
const IDP_ISSUER = 'https://login.partner.example'
const DOMAINS = ['example.com', 'example.org', 'example.net', 'mail.example', 'post.example', 'corp.example']
const PLANS = ['free', 'free', 'free', 'pro', 'pro', 'enterprise'] as const
const INTERESTS = ['news', 'sports', 'music', 'travel', 'books', 'film', 'science', 'cooking']
const DEPARTMENTS = ['sales', 'support', 'engineering', 'finance', 'people']
const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
]

/** An id that sorts by its creation time: a TypeID of a UUIDv7. */
function idAt(prefix: IdPrefix, at: Date, random: Random): string {
  const bytes = new Uint8Array(16)
  bytes.set(random.bytes(10), 6)
  const ms = at.getTime()
  new DataView(bytes.buffer).setUint16(0, Math.floor(ms / 2 ** 32))
  new DataView(bytes.buffer).setUint32(2, ms % 2 ** 32)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return TypeID.fromUUIDBytes(prefix, bytes).toString()
}

/** The form of a name in an email address; empty for scripts other than Latin. */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^a-zA-Z]/g, '')
    .toLowerCase()
    .slice(0, 20)

const ipOf = (random: Random): string =>
  random.chance(0.2)
    ? `2001:db8:${random.int(65_536).toString(16)}:${random.int(65_536).toString(16)}::${(1 + random.int(65_535)).toString(16)}`
    : `${random.pick(['192.0.2', '198.51.100', '203.0.113'])}.${1 + random.int(254)}`

/** Generates users with their rows, oldest first. The same options generate the same users. */
export function* createPeople(options: SeedOptions): Generator<SeededUser> {
  const random = createRandom(options.randomSeed)
  const places = createPlaces(options.randomSeed)
  const until = options.until.getTime()
  let latest = 0
  for (let n = 0; n < options.users; n++) {
    // The rate of new users grows with the tenant.
    const created = until - AGE_MS + Math.floor(AGE_MS * ((n + random.next()) / options.users) ** 0.6)
    latest = Math.max(latest + 1, Math.min(created, until - 1))
    yield createPerson(n, new Date(latest), random, random.pick(places), options)
  }
}

function createPerson(
  n: number,
  createdAt: Date,
  random: Random,
  place: ReturnType<typeof createPlaces>[number],
  { sessions, users, clientIds, until }: SeedOptions,
): SeededUser {
  const untilMs = until.getTime()
  const between = (from: number, to = untilMs) => new Date(Math.floor(from + random.next() * (to - from)))
  const isFemale = random.chance(0.5)
  const givenName = random.pick(isFemale ? place.female : place.male)
  const familyName = random.pick(place.family)
  const number = n.toString(36)
  const slug = [slugOf(givenName), slugOf(familyName)].filter((part) => part.length > 1).join('.')
  const email = random.chance(0.97) ? `${slug || 'user'}.${number}@${random.pick(DOMAINS)}` : null
  const [prefix, digits] = place.mobile
  const phone =
    email === null || random.chance(0.4) ? `${prefix}${String(n % 10 ** digits).padStart(digits, '0')}` : null
  const seenAt = random.chance(0.8) ? between(createdAt.getTime()) : null
  const locked = random.chance(0.005)
  const id = idAt('user', createdAt, random)
  const hasCredential = random.chance(0.05)
  const updatedAt = between(createdAt.getTime())
  const person: SeededUser = {
    user: {
      id,
      name: place.familyFirst ? `${familyName}${givenName}` : `${givenName} ${familyName}`,
      givenName,
      familyName,
      nickname: random.chance(0.1) ? givenName : null,
      preferredUsername: random.chance(0.3) ? `${slug.split('.')[0] || 'user'}${number}` : null,
      picture: random.chance(0.2) ? `https://pictures.example.com/${number}.jpg` : null,
      email,
      emailKey: email,
      emailVerified: email !== null && random.chance(0.85),
      gender: random.chance(0.5) ? (isFemale ? 'female' : 'male') : null,
      birthdate: random.chance(0.5)
        ? between(Date.UTC(1945, 0, 1), Date.UTC(2008, 0, 1))
            .toISOString()
            .slice(0, 10)
        : null,
      zoneinfo: place.zoneinfo,
      locale: place.locale,
      phoneNumber: phone,
      phoneNumberKey: phone,
      phoneNumberVerified: phone !== null && random.chance(0.6),
      locked,
      lockedAt: locked ? updatedAt : null,
      addressLocality: random.chance(0.4) ? random.pick(place.cities) : null,
      addressCountry: random.chance(0.4) ? place.country : null,
      userMetadata: random.chance(0.3)
        ? { newsletter: random.chance(0.4), interests: [random.pick(INTERESTS), random.pick(INTERESTS)] }
        : {},
      appMetadata: {
        plan: random.pick(PLANS),
        seats: 1 + random.int(50),
        ...(random.chance(0.3) && { department: random.pick(DEPARTMENTS) }),
      },
      roles: [],
      externalId: random.chance(0.6) ? `crm-${10_000 + n}` : null,
      hasCredential,
      lastSeenAt: seenAt,
      updatedAt,
      createdAt,
    },
    credential: null,
    idpUser: null,
    sessions: [],
    events: [{ type: 'user.created', occurredAt: createdAt }],
  }
  if (hasCredential) {
    const madeAt = between(createdAt.getTime())
    person.credential = {
      id: idAt('cred', madeAt, random),
      userId: id,
      externalId: random.bytes(16).toString('base64url'),
      publicKey: Buffer.concat([COSE_ED25519, random.bytes(32)]).toString('base64url'),
      transports: ['internal', 'hybrid'],
      deviceModel: random.pick(['MacBook', 'Pixel 10', 'iPhone', 'ThinkPad']),
      createdAt: madeAt,
    }
  }
  if (random.chance(0.08))
    person.idpUser = {
      id: idAt('idpuser', updatedAt, random),
      userId: id,
      idpId: IDP_ID,
      issuer: IDP_ISSUER,
      externalId: random.bytes(12).toString('hex'),
      metadata: email ? { email } : {},
      createdAt: updatedAt,
      updatedAt,
    }
  const mean = sessions / users
  const count = Math.floor(mean) + (random.chance(mean % 1) ? 1 : 0)
  for (let i = 0; i < count; i++) addSession(person, random, { clientIds, locked, between, untilMs })
  return person
}

type SessionFacts = {
  clientIds: readonly string[]
  locked: boolean
  between: (from: number, to?: number) => Date
  untilMs: number
}

/** A sign-in of the last 20 days: older sessions have expired and are deleted. */
function addSession(
  person: SeededUser,
  random: Random,
  { clientIds, locked, between, untilMs }: SessionFacts,
): void {
  const userId = person.user.id
  const createdAt = between(Math.max(person.user.createdAt.getTime(), untilMs - 20 * DAY_MS))
  const id = idAt('session', createdAt, random)
  const clientId = clientIds.length > 0 && random.chance(0.7) ? random.pick(clientIds) : null
  const lastSeenAt = between(createdAt.getTime())
  const isEnded = locked || random.chance(0.2)
  const ip = ipOf(random)
  person.sessions.push({
    id,
    userId,
    clientId,
    kind: clientId ? 'oidc' : 'api',
    tokenHash: `\\x${random.bytes(32).toString('hex')}`,
    refreshable: clientId !== null,
    authenticatedAt: createdAt,
    lastSeenAt,
    lastSeenIp: ip,
    userAgent: random.pick(BROWSERS),
    expiresAt: new Date(createdAt.getTime() + 30 * DAY_MS),
    endedAt: isEnded ? lastSeenAt : null,
    endReason: isEnded ? (locked ? 'locked' : 'logout') : null,
    createdAt,
    updatedAt: lastSeenAt,
  })
  const about = { sessionId: id, subjectIds: clientId ? [clientId] : [], ip }
  person.events.push({ type: 'session.started', occurredAt: createdAt, ...about })
  if (isEnded)
    person.events.push({
      type: 'session.ended',
      occurredAt: lastSeenAt,
      ...about,
      detail: { reason: locked ? 'locked' : 'logout' },
    })
}
