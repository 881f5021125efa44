import { createHmac } from 'node:crypto'
import { equalsConstantTime, randomToken, sha256Base64url } from '../../../core/crypto.ts'
import type { Db } from '../../../database/handle.ts'
import type { AttemptValues } from '../../../idps/provider/provider-authorization.ts'
import { buildCookie, nameCookie, readCookie } from '../../../pages/cookies.ts'
import { claimProviderAttempt, storeProviderAttempt } from '../../interactions/interactions.sql.ts'
import {
  hashBinding,
  INTERACTION_LIFETIME_SECONDS,
  type Interaction,
} from '../../interactions/interactions.ts'

/** A sign-in that began at an identity provider and has not come back. */
type ProviderAttempt = {
  id: string
  idpId: string
  /** When it began, if the user must sign in again at the provider. */
  since: string | null
}

declare module '../../interactions/progress.ts' {
  interface Progress {
    /** The attempt; removed when the provider answers. */
    provider?: ProviderAttempt
    /** The browser was sent to an identity provider: it is not sent there again without a choice of the user. */
    isLed?: boolean
  }
}

/**
 * A value of an attempt: a MAC under the key of the browser's cookie, which is not stored here. So neither the
 * database nor the provider's URLs contain what another browser would need.
 */
const deriveValue = (
  purpose: 'state' | 'nonce' | 'verifier',
  { handle, key }: Pick<Interaction, 'handle' | 'key'>,
  { id, idpId }: ProviderAttempt,
): string =>
  createHmac('sha256', key).update(['provider', purpose, handle, idpId, id].join('\n')).digest('base64url')

/** The handle leads the callback to the interaction. */
const buildState = (interaction: Pick<Interaction, 'handle' | 'key'>, attempt: ProviderAttempt): string =>
  `${interaction.handle}.${deriveValue('state', interaction, attempt)}`

/** The handle in a `state` parameter; its MAC is verified by `claimAttempt`. */
export const readHandle = (state: string): string => state.split('.', 1)[0] ?? ''

/** Begins a sign-in at a provider. Answers to an earlier attempt of the interaction are not accepted any more. */
export async function beginAttempt(
  db: Db,
  interaction: Pick<Interaction, 'handle' | 'key' | 'progress'>,
  { idpId, since }: { idpId: string; since: Date | null },
): Promise<AttemptValues> {
  const attempt = { id: randomToken(), idpId, since: since?.toISOString() ?? null }
  const { canCreatePasskey, staySignedIn } = interaction.progress
  await storeProviderAttempt(db, hashBinding(interaction), {
    provider: attempt,
    canCreatePasskey,
    staySignedIn,
  })
  return {
    state: buildState(interaction, attempt),
    nonce: deriveValue('nonce', interaction, attempt),
    codeChallenge: sha256Base64url(deriveValue('verifier', interaction, attempt)),
  }
}

/** The values that the answer of an attempt is verified with. */
export type ClaimedAttempt = ProviderAttempt & { nonce: string; codeVerifier: string }

/**
 * Claims the attempt that a `state` belongs to; null when it belongs to none, or was claimed before. Of
 * concurrent answers, one claims it.
 */
export async function claimAttempt(
  db: Db,
  interaction: Interaction,
  state: string,
): Promise<ClaimedAttempt | null> {
  const attempt = interaction.progress.provider
  if (!attempt || !equalsConstantTime(buildState(interaction, attempt), state)) return null
  if (!(await claimProviderAttempt(db, hashBinding(interaction), attempt.id))) return null
  return {
    ...attempt,
    nonce: deriveValue('nonce', interaction, attempt),
    codeVerifier: deriveValue('verifier', interaction, attempt),
  }
}

/** The cookie with the handle of the interaction that the browser leaves for a provider. */
export const buildLeftCookie = (tenant: string, handle: string): string =>
  buildCookie(nameCookie('to', tenant), handle, INTERACTION_LIFETIME_SECONDS)

/** The handle of the interaction that the browser has left for a provider. */
export const readLeftHandle = (tenant: string, cookies: string | null): string | null =>
  readCookie(cookies, nameCookie('to', tenant))
