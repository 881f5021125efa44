import type { TenantIdp } from '../../access/tenant.sql.ts'
import type { OrganizationMode } from '../../model/organization-mode.ts'
import type { OrganizationPolicy } from '../../model/organization-policy.ts'
import type { ClaimsRequest } from './claims-request.ts'

/** `create` is of OpenID Connect Initiating User Registration 1.0, section 4.1. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account', 'create'] as const

export type Prompt = (typeof PROMPTS)[number]

/**
 * The supported `display` values (OIDC Core, section 3.1.2.1). Every page suits touch screens, so `touch` is
 * rendered as `page`.
 */
export const DISPLAYS = ['page', 'popup', 'touch'] as const

export type Display = (typeof DISPLAYS)[number]

/** The id or slug of the organization that the client names, and whether it asks for one otherwise. */
export type OrganizationDemand = { named: string | null; mode: OrganizationMode }

/** An organization of the user, among which the user may choose. */
export type OwnOrganization = OrganizationPolicy & {
  id: string
  slug: string
  name: string
  /** Its identity providers, if it permits to sign in by some methods only. */
  idps: TenantIdp[] | null
}

/** A validated authorize request. Plain JSON, since interactions store it. */
export type AuthorizeRequest = ResponseTarget & {
  /** The requested scopes that the client may request; always contains `openid`. */
  scopes: string[]
  nonce: string | null
  /** The S256 challenge (RFC 7636). */
  codeChallenge: string | null
  prompt: Prompt[]
  display: Display
  maxAgeSeconds: number | null
  loginHint: string | null
  /** The preferred languages (OIDC Core, section 3.1.2.1), as BCP 47 tags. */
  uiLocales: string[]
  idTokenHint: string | null
  /** The identity provider at which the client wants the user to sign in. */
  idp: string | null
  /** The requested audiences (RFC 8707). */
  resources: string[]
  /** The organization that tokens are for; null, or absent in requests of earlier versions, for none. */
  organization?: OrganizationDemand | null
  /** The individually requested claims. */
  claims: ClaimsRequest | null
  /** Thumbprint of the DPoP key that the code is bound to (RFC 9449, section 10). */
  dpopJkt: string | null
}

/** How an authorization response is returned (OAuth 2.0 Multiple Response Types, section 2.1). */
export const RESPONSE_MODES = ['query', 'form_post', 'web_message'] as const

export type ResponseMode = (typeof RESPONSE_MODES)[number]

/** Where an authorization response is sent, success or error. */
export type ResponseTarget = {
  clientId: string
  redirectUri: string
  state: string | null
  responseMode: ResponseMode
}

/** The device that waits for the answer, in place of a redirect URI. */
type DeviceTarget = {
  responseMode: 'device'
  clientId: string
  /** SHA-256 of the device code in base64url; it identifies the stored device code. */
  deviceCodeHash: string
  /** The user code that the device shows. Sealed, because the database stores its hash only. */
  userCode: string
}

/** What a device requests from a user (RFC 8628): an authorize request that is answered at the device. */
export type DeviceRequest = Omit<AuthorizeRequest, keyof ResponseTarget> &
  DeviceTarget & { subjectHint: string | null }

/** An authorize request in which nothing is asked, for those that no client sends. */
export const EMPTY_REQUEST = {
  scopes: [],
  resources: [],
  prompt: [],
  nonce: null,
  codeChallenge: null,
  display: 'page',
  maxAgeSeconds: null,
  loginHint: null,
  uiLocales: [],
  idp: null,
  idTokenHint: null,
  subjectHint: null,
  claims: null,
  dpopJkt: null,
} satisfies Omit<PendingRedirect, keyof ResponseTarget>

/** A validated request with the user that its id_token_hint identifies. */
export type PendingRedirect = AuthorizeRequest & { subjectHint: string | null }

/** The id that the event log has for the account pages, which are no client. */
export const ACCOUNT_PAGES_ID = 'account'

/** What the account pages ask: no client gets anything, the browser goes on to one of them. */
export type AccountPagesRequest = Omit<AuthorizeRequest, keyof ResponseTarget> & {
  responseMode: 'account'
  clientId: typeof ACCOUNT_PAGES_ID
  /** The path of the account page that the user goes on to. */
  returnTo: string
  /** The session in which the user connects an identity: its page takes the answer of the provider. */
  connectsIn?: string | null
  subjectHint: string | null
}

/** What a user signs in for; `responseMode` says where the answer is sent. */
export type PendingRequest = PendingRedirect | DeviceRequest | AccountPagesRequest

/** Whether the answer is sent to the redirect URI of a client. */
export const isRedirected = (request: PendingRequest): request is PendingRedirect =>
  request.responseMode !== 'device' && request.responseMode !== 'account'
