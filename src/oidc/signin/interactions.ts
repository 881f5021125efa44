import { authenticate, authenticateAll, equals, randomToken, sha256 } from '../../crypto.ts'
import { dbFor, sql } from '../../db.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { after } from '../../time.ts'
import type { AuthorizeRequest } from '../authorize/authorize.ts'
import type { DeviceRequest } from '../device/device-request.ts'
import { updateRefusal } from './interactions.sql.ts'

/** How long a person may take over the hosted pages. */
export const INTERACTION_LIFETIME_SECONDS = 3600

/** A checked request with whom its id_token_hint names. */
export type PendingRedirect = AuthorizeRequest & { subjectHint: string | null }
/** What a person signs in for; `responseMode` tells where the answer goes. */
export type PendingRequest = PendingRedirect | DeviceRequest

/** Why the last input of a page was refused. The same for whatever address; its words are the page's. */
export type Refusal = {
  page: 'email' | 'code'
  reason: 'address' | 'code' | 'attempts'
  /** What was entered for an address. */
  entered?: string
  /** When to try again, after too many attempts. */
  retryAt?: string
}

/** How far the person has come. */
export type Progress = {
  /** The address being proven, as entered, and when its code was asked for. */
  address?: string
  sentAt?: string
  /** The session that was started in the course of this request. */
  sessionId?: string
  /** The session whose person agreed in the course of this request. */
  consentedIn?: string
  /** The person asked to be somebody else: no address is filled in. */
  isAnother?: boolean
  /** To be shown once. */
  refusal?: Refusal
}

/** A pending request. `handle` is in the pages' URLs; `key` is the cookie that binds it to one browser. */
export type Interaction = { handle: string; key: string; request: PendingRequest; progress: Progress }

/** A request that an older version kept, with what requests lacked there; they had one `resource`. */
function fromBefore({ resource, ...kept }: PendingRequest & { resource?: string | null }): PendingRequest {
  const resources = resource ? [resource] : []
  return {
    ...{ responseMode: 'query', display: 'page', resources, claims: null, dpopJkt: null },
    ...kept,
  }
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/
/** Of an interaction that arrived by a cross-site POST, so without cookies: the browser is known with its next request. */
const UNBOUND = Buffer.alloc(0)

export const isToken = (text: string | null | undefined): text is string => TOKEN.test(text ?? '')
export const interactionHashOf = ({ handle }: { handle: string }): Buffer<ArrayBuffer> => sha256(handle)
const idOf = (tenant: string, handle: string) => ({ tenantId: tenant, handleHash: sha256(handle) })

/**
 * Keeps a request while the person signs in. Several of one browser share its `key`, so that two tabs do not disturb
 * each other. Without a key the first browser that comes with the handle is bound to it.
 */
export async function openInteraction(
  tenant: string,
  request: PendingRequest,
  key: string | null,
  now = new Date(),
): Promise<string> {
  const handle = randomToken()
  await dbFor(tenant).interaction.create({
    data: {
      ...idOf(tenant, handle),
      browserHash: key ? sha256(key) : UNBOUND,
      clientId: request.clientId,
      request: request as unknown as Prisma.InputJsonValue,
      expiresAt: after(now, INTERACTION_LIFETIME_SECONDS),
    },
    select: { clientId: true },
  })
  return handle
}

/** The interaction with this handle when it is this browser's and alive; null otherwise, whatever the reason. */
export async function findInteraction(
  tenant: string,
  handle: string,
  cookie: string | null,
  now = new Date(),
): Promise<Interaction | null> {
  if (!isToken(handle)) return null
  const row = await dbFor(tenant).interaction.findUnique({
    where: { tenantId_handleHash: idOf(tenant, handle) },
  })
  if (!row || row.expiresAt <= now) return null
  const key = isToken(cookie) ? cookie : randomToken()
  const isOurs =
    row.browserHash.length === 0
      ? await bind(tenant, handle, key)
      : isToken(cookie) && equals(Buffer.from(row.browserHash), sha256(cookie))
  if (!isOurs) return null
  return {
    handle,
    key,
    request: fromBefore(row.request as PendingRequest),
    progress: row.progress as Progress,
  }
}

/** True for the one browser that comes first. */
async function bind(tenant: string, handle: string, key: string): Promise<boolean> {
  const { count } = await dbFor(tenant).interaction.updateMany({
    where: { ...idOf(tenant, handle), browserHash: UNBOUND },
    data: { browserHash: sha256(key) },
  })
  return count === 1
}

/** Notes how far the person has come, and what the request became by it. False when the interaction has ended. */
export async function saveInteraction(
  tenant: string,
  { handle, request, progress }: Interaction,
): Promise<boolean> {
  const { count } = await dbFor(tenant).interaction.updateMany({
    where: idOf(tenant, handle),
    data: {
      request: request as unknown as Prisma.InputJsonValue,
      progress: progress as Prisma.InputJsonValue,
    },
  })
  return count === 1
}

/** No text column, jsonb included, holds U+0000 or half a character. */
const storable = (text: string): string => text.replaceAll('\u0000', '').slice(0, 320).toWellFormed()

/** Notes why an input was refused, for the page that the browser is sent to next. */
export const noteRefusal = (tenant: string, interaction: Interaction, refusal: Refusal): Promise<void> =>
  updateRefusal(sql, tenant, interactionHashOf(interaction), {
    ...refusal,
    ...(refusal.entered !== undefined && { entered: storable(refusal.entered) }),
  })

/** Forgets the refusal: it was shown. */
export const dropRefusal = (tenant: string, interaction: Interaction): Promise<void> =>
  updateRefusal(sql, tenant, interactionHashOf(interaction), null)

/** Ends an interaction without a code. */
export async function endInteraction(tenant: string, handle: string): Promise<void> {
  await dbFor(tenant).interaction.deleteMany({ where: idOf(tenant, handle) })
}

/** Ties a form to its purpose and to one browser: what it holds, only that browser's pages were given. */
export const csrfOf = (purpose: string, ...bound: string[]): string =>
  authenticate('csrf', [purpose, ...bound].join('\n')).toString('base64url')

export const isCsrf = (given: string | undefined, purpose: string, ...bound: string[]): boolean =>
  authenticateAll('csrf', [purpose, ...bound].join('\n')).some((mac) =>
    equals(mac.toString('base64url'), given ?? ''),
  )
