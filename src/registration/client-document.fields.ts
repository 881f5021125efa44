import * as z from 'zod'
import { isUrlClientId } from '../access/client-ids.ts'
import { env } from '../core/env.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { PRIVATE_JWK_MEMBERS } from '../keys/public-keys.ts'
import { oneOf } from '../schema/input-shapes.ts'
import { findUrlIssue } from '../schema/url-shapes.ts'
import {
  ClientMetadata,
  createForbiddenField,
  omitLogos,
  type ParsedMetadata,
  parseMetadata,
} from './registration.fields.ts'

const URL_PARTS = /^https?:\/\/([^/?#]+)(\/.*)$/

/**
 * Whether a client_id is the URL of a metadata document: an https URL with a path, without user information, fragment or
 * dot segments (draft-ietf-oauth-client-id-metadata-document-03, section 3). URLs are compared as they are written, so that
 * one with the default port or capitals in its host is another client. Any other spelling that parsing changes is
 * rejected. http is accepted only with FETCH_PRIVATE, for this machine.
 */
export function isDocumentClientId(clientId: string): boolean {
  if (!isUrlClientId(clientId) || findUrlIssue(clientId, { secure: true })) return false
  const url = new URL(clientId)
  const [, authority = '', rest = ''] = URL_PARTS.exec(clientId) ?? []
  return (
    authority.toLowerCase().replace(/:443$/, '') === url.host &&
    rest === url.pathname + url.search &&
    (url.protocol === 'https:' || env.fetchPrivate)
  )
}

const SECRET_ISSUE = 'cannot be in a public document'
const forbiddenSecret = createForbiddenField(SECRET_ISSUE)

/** The supported methods of the draft, the stronger one first. */
const METHODS = ['private_key_jwt', 'none'] as const

const isSecretMethod = (method: unknown): boolean =>
  typeof method === 'string' && method.startsWith('client_secret_')

const hasPrivateKey = (jwks: unknown): boolean =>
  isJsonObject(jwks) &&
  Array.isArray(jwks.keys) &&
  jwks.keys.some(
    (key) => isJsonObject(key) && PRIVATE_JWK_MEMBERS.some((member) => Object.hasOwn(key, member)),
  )

/** A list of what the client can do. It is for all authorization servers, so that only `value` counts here. */
const listWith = (value: string) =>
  z
    .array(z.unknown(), 'must be an array')
    .refine((list) => list.includes(value), `must contain ${value}`)
    .optional()

const createDocumentShape = (clientId: string) =>
  ClientMetadata.extend({
    client_id: z.literal(clientId, 'must be the URL of the document'),
    token_endpoint_auth_method: oneOf(METHODS).optional(),
    token_endpoint_auth_methods_supported: z
      .array(z.unknown(), 'must be an array')
      .refine((list) => !list.some(isSecretMethod), SECRET_ISSUE)
      .optional(),
    grant_types: listWith('authorization_code'),
    response_types: listWith('code'),
    client_secret: forbiddenSecret,
    client_secret_expires_at: forbiddenSecret,
    jwks: z
      .unknown()
      .refine(
        (jwks) => !hasPrivateKey(jwks),
        'contains a private or symmetric key: send the public part only',
      )
      .optional(),
  })

/**
 * The method by which a client authenticates (section 6 of the draft): the one that its document prefers, or else one
 * that it supports. Undefined, which means none, if the document names none; an unsupported one if it has no other.
 */
function selectMethod(document: Record<string, unknown>): unknown {
  const { token_endpoint_auth_method: preferred, token_endpoint_auth_methods_supported: others } = document
  const offered = [preferred, ...(Array.isArray(others) ? others : [])].filter(
    (method) => method !== undefined,
  )
  return (
    METHODS.find((method) => method === preferred) ??
    METHODS.find((method) => offered.includes(method)) ??
    offered[0]
  )
}

/** The document as metadata of a registration. Keys of a client that does not authenticate are ignored. */
function toMetadata(document: unknown): unknown {
  const sent = omitLogos(document)
  if (!isJsonObject(sent)) return sent
  const method = selectMethod(sent)
  const { jwks, jwks_uri: _, ...others } = sent
  return method === undefined || method === 'none'
    ? { ...others, token_endpoint_auth_method: 'none', ...(hasPrivateKey(jwks) && { jwks }) }
    : { ...sent, token_endpoint_auth_method: method }
}

/**
 * Parses a metadata document (section 4 of the draft) by the rules of dynamic registration. Its redirect URIs
 * may have other origins than the client_id: the publisher of the document is responsible for them, and
 * native applications have no origin. The logo is ignored, because its image could change at any time.
 */
export const parseClientDocument = (tenant: string, clientId: string, document: unknown): ParsedMetadata =>
  parseMetadata(tenant, toMetadata(document), createDocumentShape(clientId), {
    method: 'none',
    name: new URL(clientId).host,
  })

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
