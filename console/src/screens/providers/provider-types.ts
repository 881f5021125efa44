import { t } from '../../words/words.ts'

/** The members of a provider that a form shows as they are. */
export type TextName =
  | 'issuer'
  | 'clientId'
  | 'clientSecret'
  | 'scopes'
  | 'authorizationEndpoint'
  | 'tokenEndpoint'
  | 'userInfoEndpoint'
  | 'jwksUri'
  | 'idTokenSigningKey'
  | 'platformTeamId'
  | 'platformKid'

type ProviderType = {
  label: string
  /** What an administrator does at the provider. */
  advice: string
  /** The members that a provider of this type needs or uses first. */
  fields: readonly TextName[]
}

const CLIENT = ['clientId', 'clientSecret'] as const

/** The kinds of providers in the order of the gallery. */
export const PROVIDER_TYPES: Readonly<Record<string, ProviderType>> = {
  GOOGLE: {
    label: 'Google',
    advice: t('Create an OAuth client of type “Web application” in the Google Cloud console.'),
    fields: CLIENT,
  },
  MICROSOFT: {
    label: 'Microsoft',
    advice: t('Register an application in Microsoft Entra. The issuer limits it to one organization.'),
    fields: [...CLIENT, 'issuer'],
  },
  APPLE: {
    label: 'Apple',
    advice: t('Create a Services ID and a key for “Sign in with Apple”. The secret is the key in PEM.'),
    fields: ['clientId', 'platformTeamId', 'platformKid', 'clientSecret'],
  },
  FACEBOOK: {
    label: 'Facebook',
    advice: t('Create an app with Facebook Login at Meta for Developers.'),
    fields: CLIENT,
  },
  TWITTER: {
    label: 'X',
    advice: t('Create an app with OAuth 2.0 in the X developer portal. X returns no e-mail address.'),
    fields: CLIENT,
  },
  OIDC: {
    label: 'OpenID Connect',
    advice: t('Any provider with discovery, such as Okta, Auth0, Keycloak or GitLab.'),
    fields: ['issuer', ...CLIENT],
  },
  OAUTH2: {
    label: 'OAuth 2.0',
    advice: t('A provider without ID tokens, such as GitHub or Discord.'),
    fields: [...CLIENT, 'authorizationEndpoint', 'tokenEndpoint', 'userInfoEndpoint', 'scopes'],
  },
}

/** How people call each member. */
export const TEXT_LABELS: Readonly<Record<TextName, string>> = {
  issuer: t('Issuer'),
  clientId: t('Client id'),
  clientSecret: t('Client secret'),
  scopes: t('Scopes'),
  authorizationEndpoint: t('Authorization endpoint'),
  tokenEndpoint: t('Token endpoint'),
  userInfoEndpoint: t('Userinfo endpoint'),
  jwksUri: t('Key set'),
  idTokenSigningKey: t('Key of ID tokens'),
  platformTeamId: t('Team id at Apple'),
  platformKid: t('Key id at Apple'),
}

/** A member that is missing, as the enum names it, in words. */
export const describeMissing = (name: string): string =>
  TEXT_LABELS[
    name.toLowerCase().replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as TextName
  ] ?? name
