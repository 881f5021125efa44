import type { applicationSettings_client$data } from '../../generated/applicationSettings_client.graphql.ts'
import { toLines } from '../../parts/form.tsx'
import { t } from '../../words/words.ts'
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
  | { as: 'choice'; unset?: string; choices: Record<string, string> }
)

const ALGORITHMS = { ES256: 'ES256', ES384: 'ES384', RS256: 'RS256', EDDSA: 'EdDSA' }

export const GROUPS: readonly { title: string; settings: readonly Setting[] }[] = [
  {
    title: t('How people see it'),
    settings: [
      { name: 'name', label: t('Name'), as: 'text' },
      { name: 'description', label: t('Description'), as: 'long', hint: t('For administrators.') },
      { name: 'clientUri', label: t('Home page'), as: 'url' },
      { name: 'logoUrl', label: t('Logo'), as: 'url', hint: t('The URL of a picture of 150 × 150.') },
      {
        name: 'themeColor',
        label: t('Color'),
        as: 'text',
        hint: t('Such as #4450c8. The color of the tenant when empty.'),
      },
      { name: 'policyUrl', label: t('Privacy policy'), as: 'url' },
      { name: 'termsUrl', label: t('Terms of use'), as: 'url' },
    ],
  },
  {
    title: t('Addresses'),
    settings: [
      {
        name: 'callbacks',
        label: t('Redirect URIs'),
        as: 'lines',
        only: 'with sign-in',
        hint: t('Where people return to after the sign-in: one in each line, compared byte for byte.'),
      },
      {
        name: 'allowedLogoutUrls',
        label: t('Logout URLs'),
        as: 'lines',
        only: 'with sign-in',
        hint: t('Where people return to after the sign-out.'),
      },
      {
        name: 'allowedOrigins',
        label: t('Origins'),
        as: 'lines',
        hint: t('Whose pages may call the APIs from a browser. When empty, those of the redirect URIs.'),
      },
      {
        name: 'webOrigins',
        label: t('Origins of messages'),
        as: 'lines',
        only: 'with sign-in',
        hint: t('Which may receive the response as a web_message.'),
      },
      {
        name: 'initiateLoginUrl',
        label: t('Start of a sign-in'),
        as: 'url',
        only: 'with sign-in',
        hint: t('The URL of the application to which portals and mails lead.'),
      },
      {
        name: 'backchannelLogoutUrl',
        label: t('Back-channel logout'),
        as: 'url',
        only: 'with sign-in',
        hint: t('The URL that receives a logout token when a session ends.'),
      },
    ],
  },
  {
    title: t('Sign-in'),
    settings: [
      {
        name: 'requireConsent',
        label: t('Ask for consent'),
        as: 'flag',
        only: 'with sign-in',
        hint: t('People agree before the application gets their data.'),
      },
      {
        name: 'requireSecondFactor',
        label: t('Require a second factor'),
        as: 'flag',
        only: 'with sign-in',
        hint: t('Or a passkey.'),
      },
      {
        name: 'requirePkce',
        label: t('Require PKCE'),
        as: 'flag',
        only: 'with sign-in',
        hint: t('Single-page and native applications always must use it.'),
      },
      {
        name: 'defaultMaxAge',
        label: t('New sign-in after (seconds)'),
        as: 'number',
        min: 0,
        max: 31_536_000,
        only: 'with sign-in',
        hint: t('Where the request has no max_age. Never when empty.'),
      },
    ],
  },
  {
    title: t('Tokens'),
    settings: [
      {
        name: 'tokenExpiryTime',
        label: t('Lifetime of access tokens (seconds)'),
        as: 'number',
        min: 60,
        max: 86_400,
        hint: t('60 to 86,400. An hour when empty.'),
      },
      {
        name: 'rotateRefreshTokens',
        label: t('Rotate refresh tokens'),
        as: 'flag',
        only: 'with sign-in',
        hint: t('They change with each use.'),
      },
      {
        name: 'dpopBoundAccessTokens',
        label: t('Bind tokens to a key'),
        as: 'flag',
        hint: t('Token requests must have a DPoP proof.'),
      },
      {
        name: 'idTokenClaims',
        label: t('Claims in the ID token'),
        as: 'flag',
        only: 'with sign-in',
        hint: t('Otherwise only userinfo has the name and the addresses.'),
      },
      {
        name: 'groupsClaim',
        label: t('Claim groups'),
        as: 'flag',
        only: 'with sign-in',
        hint: t('The names of the groups of the user, in the ID token and in userinfo.'),
      },
      {
        name: 'idTokenSigningAlg',
        label: t('Algorithm of ID tokens'),
        as: 'choice',
        unset: t('Default (ES256)'),
        choices: ALGORITHMS,
        only: 'with sign-in',
      },
      {
        name: 'userInfoSigningAlg',
        label: t('Algorithm of userinfo'),
        as: 'choice',
        unset: t('Not signed'),
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
        label: t('Scopes'),
        as: 'scopes',
        hint: t('What it may request of the management API. You can give only scopes that you have.'),
      },
      {
        name: 'acceptedDocuments',
        label: t('GraphQL documents that are accepted'),
        as: 'choice',
        choices: { ANY: t('Any'), TRUSTED: t('Those that are registered for the application') },
        hint: t('Unless the tenant accepts registered ones only.'),
      },
      {
        name: 'resources',
        label: t('Its own APIs'),
        as: 'lines',
        only: 'with secret',
        hint: t('The audiences that it serves: it may introspect tokens for them.'),
      },
    ],
  },
  {
    title: t('Security'),
    settings: [
      {
        name: 'profile',
        label: t('Security profile'),
        as: 'choice',
        unset: t('None'),
        choices: { FAPI2: 'FAPI 2.0' },
        hint: t('FAPI 2.0 needs keys, and implies the settings below.'),
      },
      {
        name: 'tokenEndpointAuthMethod',
        label: t('Authentication'),
        as: 'choice',
        unset: t('Any that it has the means for'),
        choices: {
          CLIENT_SECRET_BASIC: t('Secret in the header'),
          CLIENT_SECRET_POST: t('Secret in the form'),
          PRIVATE_KEY_JWT: t('Signed by its key'),
        },
        only: 'with secret',
      },
      {
        name: 'jwksUri',
        label: t('URL of its keys'),
        as: 'url',
        only: 'with secret',
      },
      {
        name: 'jwks',
        label: t('Its keys'),
        as: 'json',
        only: 'with secret',
        hint: t('A JSON Web Key Set, in place of the URL.'),
      },
      {
        name: 'requirePushedRequests',
        label: t('Require pushed requests'),
        as: 'flag',
        only: 'with sign-in',
      },
      {
        name: 'requireFapiAlgorithms',
        label: t('Require PS256, ES256 or EdDSA'),
        as: 'flag',
        hint: t('In its assertions and DPoP proofs.'),
      },
      {
        name: 'requireIssuerAudience',
        label: t('Require the issuer as audience'),
        as: 'flag',
        hint: t('In its assertions.'),
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
