import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { issuerOf } from '../core/issuer.ts'
import { log } from '../core/log.ts'
import { FetchError, PROOF_TIMEOUT_MS, proofFetch } from '../core/network/fetcher.ts'
import { toEpochSeconds } from '../core/time.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { ProofFault } from '../events/reasons.ts'
import { signJwt } from '../keys/keys.ts'

/** A guess that the old system judges takes as long where it is wrong: the time would show who exists there. */
const WRONG_TAKES_MS = PROOF_TIMEOUT_MS + 250
const REQUEST_LIFETIME_SECONDS = 30

type Guess = { userId: string; address: string; password: string }
type Answer = { isProven: boolean; fault?: ProofFault }

/** Whether an answer proves the account. It repeats the `jti` of the request, so that no other answer passes for it. */
function readAnswer(text: string, nonce: string): Answer {
  try {
    const { proven, nonce: repeated } = JSON.parse(text)
    if (typeof proven === 'boolean' && repeated === nonce) return { isProven: proven }
  } catch {}
  return { isProven: false, fault: 'answer' }
}

/** Asks the system that the tenant moves from, with a JWT that the tenant has signed. Never throws. */
async function askOldSystem(tenant: string, { address, password }: Guess): Promise<Answer> {
  const url = (await findTenant(tenant))?.proofUrl
  if (!url) return { isProven: false, fault: 'unset' }
  const nonce = randomUUID()
  const iat = toEpochSeconds(new Date())
  const times = { iat, exp: iat + REQUEST_LIFETIME_SECONDS, jti: nonce }
  try {
    const claims = { iss: issuerOf(tenant), aud: url, ...times, address, password }
    const response = await proofFetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/jwt', accept: 'application/json' },
      body: await signJwt(tenant, 'old-account+jwt', claims),
    })
    if (response.status !== 200) return { isProven: false, fault: 'status' }
    return readAnswer(await response.text(), nonce)
  } catch (error) {
    if (error instanceof FetchError) return { isProven: false, fault: error.kind }
    log.error({ tenant, err: error }, 'the proofUrl could not be asked')
    return { isProven: false, fault: 'internal' }
  }
}

/**
 * Whether the old system accepts a password of a user whom the import marked for that. Without a user, nothing is asked. A
 * password that is not accepted takes the same time in each case. A failure of the old system is recorded.
 */
export async function proveByUrl(ctx: Ctx, guess: Guess | null): Promise<boolean> {
  const end = performance.now() + WRONG_TAKES_MS
  if (guess) {
    const { isProven, fault } = await askOldSystem(ctx.tenant, guess)
    if (isProven) return true
    if (fault)
      await recordEvents(ctx.db, ctx, [
        createEvent('credential.proof_failed', { userId: guess.userId }, { reason: fault }),
      ])
  }
  await sleep(Math.max(0, end - performance.now()))
  return false
}
