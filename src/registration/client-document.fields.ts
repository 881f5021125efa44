import * as z from 'zod'
import { isUrlClientId } from '../access/client-ids.ts'
import { env } from '../core/env.ts'
import { oneOf } from '../schema/input-shapes.ts'
import { findUrlIssue } from '../schema/url-shapes.ts'
import {
  ClientMetadata,
  createForbiddenField,
  omitLogos,
  type ParsedMetadata,
  parseMetadata,
} from './registration.fields.ts'

/**
 * Whether a client_id is the URL of a metadata document: an https URL with a path, without user information,
 * fragment or dot segments (draft-ietf-oauth-client-id-metadata-document, section 3). It must be in
 * normalized form, so that a document has only one client_id. http is accepted only with FETCH_PRIVATE, for
 * this machine.
 */
export function isDocumentClientId(clientId: string): boolean {
  if (!isUrlClientId(clientId) || findUrlIssue(clientId, { secure: true })) return false
  const url = new URL(clientId)
  return url.href === clientId && (url.protocol === 'https:' || env.fetchPrivate)
}

const forbiddenSecret = createForbiddenField('cannot be in a public document')

const createDocumentShape = (clientId: string) =>
  ClientMetadata.extend({
    client_id: z.literal(clientId, 'must be the URL of the document'),
    token_endpoint_auth_method: oneOf(['none', 'private_key_jwt']).optional(),
    client_secret: forbiddenSecret,
    client_secret_expires_at: forbiddenSecret,
  })

/**
 * Parses a metadata document (section 4 of the draft) by the rules of dynamic registration. Its redirect URIs
 * may have other origins than the client_id: the publisher of the document is responsible for them, and
 * native applications have no origin. The logo is ignored, because its image could change at any time.
 */
export function parseClientDocument(tenant: string, clientId: string, document: unknown): ParsedMetadata {
  return parseMetadata(tenant, omitLogos(document), createDocumentShape(clientId), {
    method: 'none',
    name: new URL(clientId).host,
  })
}

const MIN_FRESH_SECONDS = 300
const DEFAULT_FRESH_SECONDS = 3600
const MAX_FRESH_SECONDS = 86_400

/** How long a document is fresh by its Cache-Control (RFC 9111, section 5.2.2): five minutes to a day. */
export function parseFreshSeconds(cacheControl: string | null): number {
  if (/(^|[\s,])no-(store|cache)\b/i.test(cacheControl ?? '')) return MIN_FRESH_SECONDS
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(cacheControl ?? '')?.[1]
  const seconds = maxAge === undefined ? DEFAULT_FRESH_SECONDS : Number(maxAge)
  return Math.min(MAX_FRESH_SECONDS, Math.max(MIN_FRESH_SECONDS, seconds))
}
