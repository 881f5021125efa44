import { newId } from '../core/crypto.ts'
import { issuerOf } from '../core/issuer.ts'
import { toEpochSeconds } from '../core/time.ts'
import { signJwt } from '../keys/keys.ts'
import type { Signal } from './build-signals.ts'
import type { NewToken } from './streams.sql.ts'

/** A token about a user, or about the stream itself. `txn` relates those of one request. */
export const createToken = ({ type, subId, detail }: Signal, subject: string, txn?: string): NewToken => ({
  id: newId('signal'),
  type,
  subject,
  body: JSON.stringify({ sub_id: subId, ...(txn && { txn }), events: { [type]: detail } }),
})

/** A token about a stream (SSF 1.0, sections 8.1.4 and 8.1.5). Its subject is the stream. */
export const createStreamToken = (streamId: string, type: string, detail: object): NewToken =>
  createToken({ type, subId: { format: 'opaque', id: streamId }, detail }, streamId)

/**
 * Signs an event that waits as a security event token (RFC 8417; SSF 1.0, section 4.1): without `sub` and `exp`, so that no
 * token of another kind is mistaken for it. Each attempt has the same `jti` and `iat`.
 */
export const signToken = (
  tenant: string,
  { id, clientId, createdAt, body }: { id: string; clientId: string; createdAt: Date; body: string },
): Promise<string> =>
  signJwt(tenant, 'secevent+jwt', {
    iss: issuerOf(tenant),
    jti: id,
    iat: toEpochSeconds(createdAt),
    aud: clientId,
    ...JSON.parse(body),
  })
