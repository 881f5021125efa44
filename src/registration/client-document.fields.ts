import { z } from 'zod'
import { isUrlId } from '../clients/client-ids.ts'
import { env } from '../env.ts'
import type { FieldFault } from '../errors.ts'
import { urlFault } from '../fields.ts'
import { Metadata, oneOf, type ReadMetadata, readMetadata, refused } from './registration.fields.ts'

/**
 * Whether a client_id names a metadata document: an https URL with a path, without user information, fragment or dot segments
 * (draft-ietf-oauth-client-id-metadata-document, section 3), in the one spelling that URLs are written in, so that no two ids
 * mean one document. http leads to this machine only, and only where the operator lets us fetch there.
 */
export function isDocumentId(clientId: string): boolean {
  if (!isUrlId(clientId) || urlFault(clientId, { secure: true })) return false
  const url = new URL(clientId)
  return url.href === clientId && (url.protocol === 'https:' || env.fetchPrivate)
}

const noSecret = refused('cannot be in a document that everybody may read')

const documentShape = (clientId: string) =>
  Metadata.extend({
    client_id: z.literal(clientId, 'must be the URL of the document'),
    token_endpoint_auth_method: oneOf(['none', 'private_key_jwt']).optional(),
    client_secret: noSecret,
    client_secret_expires_at: noSecret,
  })

/**
 * Reads a metadata document (section 4 of the draft) by the rules of registrations. Its redirect URIs need not be of the
 * client_id's origin: who publishes the document answers for them, and native applications have none of an origin. The logo
 * is left out: we would not fetch it, and what people's browsers fetch can become another at any time.
 */
export function readDocument(tenant: string, clientId: string, document: unknown): ReadMetadata {
  const read = readMetadata(tenant, document, documentShape(clientId), {
    method: 'none',
    name: new URL(clientId).host,
  })
  const faults: FieldFault[] = read.faults.filter(({ field }) => field !== 'logo_uri')
  return { ...read, input: { ...read.input, logoUrl: null }, faults }
}

const MIN_FRESH_SECONDS = 300
const DEFAULT_FRESH_SECONDS = 3600
const MAX_FRESH_SECONDS = 86_400

/** How long a document need not be read again, by its Cache-Control (RFC 9111, section 5.2.2): five minutes to a day. */
export function freshSeconds(cacheControl: string | null): number {
  if (/(^|[\s,])no-(store|cache)\b/i.test(cacheControl ?? '')) return MIN_FRESH_SECONDS
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(cacheControl ?? '')?.[1]
  const seconds = maxAge === undefined ? DEFAULT_FRESH_SECONDS : Number(maxAge)
  return Math.min(MAX_FRESH_SECONDS, Math.max(MIN_FRESH_SECONDS, seconds))
}
