import type { Ctx } from '../../context/context.ts'
import { requireStorage } from '../../coordination/storage-budgets.ts'
import { equalsConstantTime, randomToken, sha256 } from '../../core/crypto.ts'
import { AppError } from '../../core/errors.ts'
import { measureJson } from '../../core/json/json-size.ts'
import { addSeconds } from '../../core/time.ts'
import type { Db } from '../../database/handle.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { PendingRequest } from '../model/authorize-request.ts'
import { type InteractionBinding, updateInputRejection } from './interactions.sql.ts'
import type { InputRejection, Progress } from './progress.ts'

/** How long a user may take to complete the hosted pages. */
export const INTERACTION_LIFETIME_SECONDS = 3600

/**
 * A pending request. `handle` is in the pages' URLs; `key` is the cookie that binds it to one browser. `nextKey` binds it
 * after a proof in this call: a copy of `key` that another browser has is of no use then.
 */
export type Interaction = {
  handle: string
  key: string
  nextKey: string
  request: PendingRequest
  progress: Progress
}

/**
 * Completes a request that an older version stored, when requests had a single `resource` and fewer members.
 */
function migrateStoredRequest({
  resource,
  ...stored
}: PendingRequest & { resource?: string | null }): PendingRequest {
  const resources = resource ? [resource] : []
  return {
    ...{
      responseMode: 'query',
      display: 'page',
      resources,
      claims: null,
      dpopJkt: null,
      uiLocales: [],
      idp: null,
    },
    ...stored,
  }
}

const TOKEN_SYNTAX = /^[A-Za-z0-9_-]{43}$/
/** For an interaction that a cross-site POST created, which has no cookies: its first GET binds it. */
const UNBOUND_BROWSER_HASH = Buffer.alloc(0)

const isTokenSyntax = (text: string | null | undefined): text is string => TOKEN_SYNTAX.test(text ?? '')
export const hashHandle = ({ handle }: { handle: string }): Buffer<ArrayBuffer> => sha256(handle)
const toInteractionKey = (tenant: string, handle: string) => ({
  tenantId: tenant,
  handleHash: sha256(handle),
})

/** The handle of a sign-in that its request_uri leads back to until `resumableUntil`. */
export type ResumableSignIn = { handle: string; resumableUntil: Date }

/** One message for every reason, so that it does not reveal whether a handle exists. */
export const createExpiredSignInError = () =>
  new AppError(
    'NOT_FOUND',
    410,
    'This sign-in has expired, was finished, or was started in another browser. Go back to the application and sign in again.',
  )

/**
 * Stores a request while the user signs in and returns its handle, which is random unless `signIn` has one. Without a
 * key, the first browser that presents the handle is bound. Throws RateLimited when the network has stored too much.
 */
export async function createInteraction(
  { tenant, ip, db }: Pick<Ctx, 'tenant' | 'ip' | 'db'>,
  request: PendingRequest,
  key: string | null,
  signIn?: ResumableSignIn,
): Promise<string> {
  await requireStorage('pendingRequest', { tenant, ip }, { bytes: measureJson(request) })
  const handle = signIn?.handle ?? randomToken()
  await db.prisma.interaction.create({
    data: {
      ...toInteractionKey(tenant, handle),
      browserHash: key ? sha256(key) : UNBOUND_BROWSER_HASH,
      clientId: request.clientId,
      request: request as unknown as Prisma.InputJsonValue,
      expiresAt: addSeconds(new Date(), INTERACTION_LIFETIME_SECONDS),
      resumableUntil: signIn?.resumableUntil,
    },
    select: { clientId: true },
  })
  return handle
}

/** How a browser presents an interaction: the handle of the URL and the cookie that it is bound to. */
export type PresentedInteraction = { handle: string; cookie: string | null }

/** The interaction with this handle if it is bound to this browser and has not expired; null otherwise. */
export async function findInteraction(db: Db, presented: PresentedInteraction): Promise<Interaction | null> {
  const { handle } = presented
  if (!isTokenSyntax(handle)) return null
  const row = await db.prisma.interaction.findUnique({
    where: { tenantId_handleHash: toInteractionKey(db.tenant, handle) },
  })
  return row && toBoundInteraction(db, presented, row, new Date())
}

/** The columns of an interaction that are read. */
type StoredInteraction = {
  browserHash: Uint8Array
  request: unknown
  progress: unknown
  expiresAt: Date
}

/** The interaction of a row if it is bound to this browser and has not expired; null otherwise. */
export async function toBoundInteraction(
  db: Db,
  { handle, cookie }: PresentedInteraction,
  row: StoredInteraction,
  now: Date,
): Promise<Interaction | null> {
  if (row.expiresAt <= now) return null
  const isUnbound = row.browserHash.length === 0
  const key = isUnbound ? randomToken() : cookie
  if (!isTokenSyntax(key)) return null
  const isBound = isUnbound
    ? await bindInteraction(db, handle, key)
    : equalsConstantTime(Buffer.from(row.browserHash), sha256(key))
  if (!isBound) return null
  return {
    handle,
    key,
    nextKey: randomToken(),
    request: migrateStoredRequest(row.request as PendingRequest),
    progress: row.progress as Progress,
  }
}

/** Binds an unbound interaction to a browser. True for the first browser only. */
async function bindInteraction({ prisma, tenant }: Db, handle: string, key: string): Promise<boolean> {
  const { count } = await prisma.interaction.updateMany({
    where: { ...toInteractionKey(tenant, handle), browserHash: UNBOUND_BROWSER_HASH },
    data: { browserHash: sha256(key) },
  })
  return count === 1
}

/** The row of an interaction while it is bound as when it was read: another proof has bound it anew. */
const toBoundKey = (tenant: string, { handle, key }: Pick<Interaction, 'handle' | 'key'>) => ({
  ...toInteractionKey(tenant, handle),
  browserHash: sha256(key),
})

/** The hashes that identify a bound interaction in statements. */
export const hashBinding = (interaction: Pick<Interaction, 'handle' | 'key'>): InteractionBinding => ({
  handleHash: hashHandle(interaction),
  browserHash: sha256(interaction.key),
})

/** The hashes of a bound interaction, with that of the key that binds the interaction after a proof. */
export const hashProvenBinding = (
  interaction: Interaction,
): InteractionBinding & { nextBrowserHash: Buffer } => ({
  ...hashBinding(interaction),
  nextBrowserHash: sha256(interaction.nextKey),
})

/** Saves the progress and the request of an interaction. False when it has ended, or was bound anew. */
export const saveInteraction = (db: Db, interaction: Interaction): Promise<boolean> =>
  updateInteraction(db, interaction, interaction.key)

/**
 * Saves an interaction after a proof, and binds it to `nextKey`, which the response must set as the cookie. Throws
 * AppError (410) when it has ended, or was bound anew.
 */
export async function saveProvenInteraction(db: Db, interaction: Interaction): Promise<void> {
  if (!(await updateInteraction(db, interaction, interaction.nextKey))) throw createExpiredSignInError()
}

async function updateInteraction(
  { prisma, tenant }: Db,
  interaction: Interaction,
  key: string,
): Promise<boolean> {
  const { request, progress } = interaction
  const { count } = await prisma.interaction.updateMany({
    where: toBoundKey(tenant, interaction),
    data: {
      browserHash: sha256(key),
      request: request as unknown as Prisma.InputJsonValue,
      progress: progress as Prisma.InputJsonValue,
    },
  })
  return count === 1
}

/** Deletes an interaction. False when it has ended: of two submissions of the last form, only one continues. */
export async function deleteInteraction(
  { prisma, tenant }: Db,
  interaction: Pick<Interaction, 'handle' | 'key'>,
): Promise<boolean> {
  const { count } = await prisma.interaction.deleteMany({
    where: toBoundKey(tenant, interaction),
  })
  return count === 1
}

/** PostgreSQL stores neither U+0000 nor unpaired surrogates, in text or jsonb. */
const toStorableText = (text: string, length = 320): string =>
  text.replaceAll('\u0000', '').slice(0, length).toWellFormed()
/** Longest entered value of a field that is shown again. */
const ENTRY_LENGTH = 1000

/** Stores why an input was rejected, for the page that the browser is redirected to. */
export const setInputRejection = (db: Db, interaction: Interaction, refusal: InputRejection): Promise<void> =>
  updateInputRejection(db, hashBinding(interaction), {
    ...refusal,
    ...(refusal.entered !== undefined && { entered: toStorableText(refusal.entered) }),
    ...(refusal.values && {
      values: Object.fromEntries(
        Object.entries(refusal.values).map(([name, value]) => [name, toStorableText(value, ENTRY_LENGTH)]),
      ),
    }),
  })

/** Deletes the rejection after it was shown. */
export const clearInputRejection = (db: Db, interaction: Interaction): Promise<void> =>
  updateInputRejection(db, hashBinding(interaction), null)
