import { isClientScope } from '../core/scopes.ts'
import type { AppType } from './client-types.ts'

/** The device grant type (RFC 8628, section 3.4). */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** The kinds of client that sign users in. */
const SIGN_IN_APP_TYPES: readonly AppType[] = ['web', 'single-page', 'native']

/** The supported grant types, each with the kinds of client that may use it. */
const APP_TYPES_BY_GRANT = {
  authorization_code: SIGN_IN_APP_TYPES,
  refresh_token: SIGN_IN_APP_TYPES,
  client_credentials: ['machine'],
  // A single-page client can be redirected to.
  [DEVICE_CODE_GRANT]: ['native', 'web'],
} satisfies Record<string, readonly AppType[]>

export type GrantType = keyof typeof APP_TYPES_BY_GRANT
export const GRANT_TYPES = Object.keys(APP_TYPES_BY_GRANT) as GrantType[]

type GrantUser = { appType: string; scopes?: readonly string[] }

/** Whether a web client may get tokens of its own, for the streams of shared signals alone. */
const managesStreams = ({ appType, scopes = [] }: GrantUser): boolean =>
  appType === 'web' && scopes.some(isClientScope)

/** Whether a client may use a grant type. */
export const canUseGrant = (client: GrantUser, type: GrantType): boolean =>
  APP_TYPES_BY_GRANT[type].some((allowed) => allowed === client.appType) ||
  (type === 'client_credentials' && managesStreams(client))

/** The grant types that clients may use which sign users in. */
export const SIGN_IN_GRANT_TYPES = GRANT_TYPES.filter((type) =>
  SIGN_IN_APP_TYPES.some((appType) => canUseGrant({ appType }, type)),
) as [GrantType, ...GrantType[]]
