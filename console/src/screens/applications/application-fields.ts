import type { applicationSettings_client$data } from '../../generated/applicationSettings_client.graphql.ts'
import { toLines } from '../../parts/form.tsx'
import { hasSecret } from './kinds.ts'

type ClientValues = Omit<applicationSettings_client$data, ' $fragmentType' | 'id' | 'appType' | 'updatedAt'>
export type FieldName = keyof ClientValues

/** How a setting is entered, and its value in the form: a text, or whether it is on. */
export type Setting = {
  name: FieldName
  label: string
  hint?: string
  /** Only for applications that can keep a secret, or that people sign in to. */
  only?: 'with secret' | 'with sign-in'
} & (
  | { as: 'text' | 'url' | 'long' | 'lines' | 'flag' | 'json' | 'scopes' }
  | { as: 'number'; min: number; max: number }
  | { as: 'choice'; unset: string; choices: Record<string, string> }
)

const ALGORITHMS = { ES256: 'ES256', ES384: 'ES384', RS256: 'RS256', EDDSA: 'EdDSA' }

export const GROUPS: readonly { title: string; settings: readonly Setting[] }[] = [
  {
    title: 'How people see it',
    settings: [
      { name: 'name', label: 'Name', as: 'text' },
      { name: 'description', label: 'Description', as: 'long', hint: 'For administrators.' },
      { name: 'clientUri', label: 'Home page', as: 'url' },
      { name: 'logoUrl', label: 'Logo', as: 'url', hint: 'The URL of a picture of 150 × 150.' },
      {
        name: 'themeColor',
        label: 'Color',
        as: 'text',
        hint: 'Such as #4450c8. The color of the tenant when empty.',
      },
      { name: 'policyUrl', label: 'Privacy policy', as: 'url' },
      { name: 'termsUrl', label: 'Terms of use', as: 'url' },
    ],
  },
  {
    title: 'Addresses',
    settings: [
      {
        name: 'callbacks',
        label: 'Redirect URIs',
        as: 'lines',
        only: 'with sign-in',
        hint: 'Where people return to after the sign-in: one in each line, compared byte for byte.',
      },
      {
        name: 'allowedLogoutUrls',
        label: 'Logout URLs',
        as: 'lines',
        only: 'with sign-in',
        hint: 'Where people return to after the sign-out.',
      },
      {
        name: 'allowedOrigins',
        label: 'Origins',
        as: 'lines',
        hint: 'Whose pages may call the APIs from a browser. When empty, those of the redirect URIs.',
      },
      {
        name: 'webOrigins',
        label: 'Origins of messages',
        as: 'lines',
        only: 'with sign-in',
        hint: 'Which may receive the response as a web_message.',
      },
      {
        name: 'initiateLoginUrl',
        label: 'Start of a sign-in',
        as: 'url',
        only: 'with sign-in',
        hint: 'The URL of the application to which portals and mails lead.',
      },
      {
        name: 'backchannelLogoutUrl',
        label: 'Back-channel logout',
        as: 'url',
        only: 'with sign-in',
        hint: 'The URL that receives a logout token when a session ends.',
      },
    ],
  },
  {
    title: 'Sign-in',
    settings: [
      {
        name: 'requireConsent',
        label: 'Ask for consent',
        as: 'flag',
        only: 'with sign-in',
        hint: 'People agree before the application gets their data.',
      },
      {
        name: 'requireSecondFactor',
        label: 'Require a second factor',
        as: 'flag',
        only: 'with sign-in',
        hint: 'Or a passkey.',
      },
      {
        name: 'requirePkce',
        label: 'Require PKCE',
        as: 'flag',
        only: 'with sign-in',
        hint: 'Single-page and native applications always must use it.',
      },
      {
        name: 'defaultMaxAge',
        label: 'New sign-in after (seconds)',
        as: 'number',
        min: 0,
        max: 31_536_000,
        only: 'with sign-in',
        hint: 'Where the request has no max_age. Never when empty.',
      },
    ],
  },
  {
    title: 'Tokens',
    settings: [
      {
        name: 'tokenExpiryTime',
        label: 'Lifetime of access tokens (seconds)',
        as: 'number',
        min: 60,
        max: 86_400,
        hint: '60 to 86,400. An hour when empty.',
      },
      {
        name: 'rotateRefreshTokens',
        label: 'Rotate refresh tokens',
        as: 'flag',
        only: 'with sign-in',
        hint: 'They change with each use.',
      },
      {
        name: 'dpopBoundAccessTokens',
        label: 'Bind tokens to a key',
        as: 'flag',
        hint: 'Token requests must have a DPoP proof.',
      },
      {
        name: 'idTokenClaims',
        label: 'Claims in the ID token',
        as: 'flag',
        only: 'with sign-in',
        hint: 'Otherwise only userinfo has the name and the addresses.',
      },
      {
        name: 'idTokenSigningAlg',
        label: 'Algorithm of ID tokens',
        as: 'choice',
        unset: 'Default (ES256)',
        choices: ALGORITHMS,
        only: 'with sign-in',
      },
      {
        name: 'userInfoSigningAlg',
        label: 'Algorithm of userinfo',
        as: 'choice',
        unset: 'Not signed',
        choices: ALGORITHMS,
        only: 'with sign-in',
      },
    ],
  },
  {
    title: 'APIs',
    settings: [
      {
        name: 'scopes',
        label: 'Scopes',
        as: 'scopes',
        hint: 'What it may request of the management API. You can give only scopes that you have.',
      },
      {
        name: 'resources',
        label: 'Its own APIs',
        as: 'lines',
        only: 'with secret',
        hint: 'The audiences that it serves: it may introspect tokens for them.',
      },
    ],
  },
  {
    title: 'Security',
    settings: [
      {
        name: 'profile',
        label: 'Security profile',
        as: 'choice',
        unset: 'None',
        choices: { FAPI2: 'FAPI 2.0' },
        hint: 'FAPI 2.0 needs keys, and implies the settings below.',
      },
      {
        name: 'tokenEndpointAuthMethod',
        label: 'Authentication',
        as: 'choice',
        unset: 'Any that it has the means for',
        choices: {
          CLIENT_SECRET_BASIC: 'Secret in the header',
          CLIENT_SECRET_POST: 'Secret in the form',
          PRIVATE_KEY_JWT: 'Signed by its key',
        },
        only: 'with secret',
      },
      {
        name: 'jwksUri',
        label: 'URL of its keys',
        as: 'url',
        only: 'with secret',
      },
      {
        name: 'jwks',
        label: 'Its keys',
        as: 'json',
        only: 'with secret',
        hint: 'A JSON Web Key Set, in place of the URL.',
      },
      {
        name: 'requirePushedRequests',
        label: 'Require pushed requests',
        as: 'flag',
        only: 'with sign-in',
      },
      {
        name: 'requireFapiAlgorithms',
        label: 'Require PS256, ES256 or EdDSA',
        as: 'flag',
        hint: 'In its assertions and DPoP proofs.',
      },
      {
        name: 'requireIssuerAudience',
        label: 'Require the issuer as audience',
        as: 'flag',
        hint: 'In its assertions.',
      },
    ],
  },
]

export const isOffered = ({ only }: Setting, appType: string): boolean =>
  only === undefined || (only === 'with secret' ? hasSecret(appType) : appType !== 'MACHINE')

export type FormValue = string | boolean

/** The value of the form for a value of the API. */
export function toFormValue(setting: Setting, value: ClientValues[FieldName]): FormValue {
  if (setting.as === 'flag') return value === true
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join('\n')
  return setting.as === 'json' ? JSON.stringify(value, null, 2) : String(value)
}

/** The value of the API for what was entered. Throws SyntaxError for JSON that is none. */
export function toInputValue(setting: Setting, entered: FormValue): unknown {
  if (typeof entered === 'boolean') return entered
  const text = entered.trim()
  if (setting.as === 'lines' || setting.as === 'scopes') {
    const lines = toLines(text)
    // Unset, they are those of the redirect URIs; an empty list would permit none.
    return setting.name === 'allowedOrigins' && lines.length === 0 ? null : lines
  }
  if (text === '') return null
  if (setting.as === 'number') return Number(text)
  return setting.as === 'json' ? JSON.parse(text) : text
}
