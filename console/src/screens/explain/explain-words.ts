import type { explainScreenQuery$data } from '../../generated/explainScreenQuery.graphql.ts'
import { t } from '../../words/words.ts'

export type Step = NonNullable<explainScreenQuery$data['explainSignIn']>['steps'][number]

const CHECKS: Record<string, string> = {
  CLIENT: t('Application'),
  PARAMETERS: t('Parameters'),
  REDIRECT_URI: t('Redirect URI'),
  RESPONSE_MODE: t('Response mode'),
  PUSHED_REQUEST: t('Pushed request'),
  RESPONSE_TYPE: t('Response type'),
  SCOPE: t('Requested scopes'),
  PKCE: t('Code challenge'),
  PROMPT: t('Prompt'),
  MAX_AGE: t('Greatest age of the sign-in'),
  RESOURCE: t('Requested APIs'),
  CLAIMS: t('Requested claims'),
  DPOP: t('DPoP key'),
  ID_TOKEN_HINT: t('ID token hint'),
  USER: t('User'),
  LOCK: t('Lock'),
  ACR: t('Strength of the sign-in'),
  SESSION: t('Session'),
  METHOD: t('Sign-in methods'),
  SECOND_FACTOR: t('Second factor'),
  SUBJECT: t('Person of the request'),
  TERMS: t('Terms of use'),
  CONSENT: t('Consent'),
  ORGANIZATION_POLICY: t('Rules of sign-in'),
  GRANTED_SCOPES: t('Granted scopes'),
}

const METHODS: Record<string, string> = {
  email: t('Code by email'),
  sms: t('Code by text message'),
  passkey: t('Passkey'),
}

const nameMethod = (name: string): string => METHODS[name] ?? t('Provider {name}', { name })

/** The heading of a step: the name of a method, or else of the check. */
export const nameStep = ({ check, values: [value] }: Step): string =>
  (check === 'METHOD' && value !== undefined ? nameMethod(value) : CHECKS[check]) ?? check

/** The values that a step shows. */
export const listValues = ({ check, values }: Step): readonly string[] =>
  check === 'METHOD' ? [] : check === 'SECOND_FACTOR' ? values.map(nameMethod) : values

/** What came out, by check and outcome, and by the rule where it makes a difference. */
const OUTCOMES: Record<string, string> = {
  'CLIENT PASSED': t('The application is registered.'),
  'CLIENT FAILED': t('No application has this client id.'),
  'CLIENT FAILED CLIENT_APP_TYPE': t('Nobody signs in at a machine.'),
  'PARAMETERS FAILED': t('A parameter is repeated or not supported.'),
  'REDIRECT_URI PASSED': t('The application has it.'),
  'REDIRECT_URI FAILED': t('The application does not have it.'),
  'RESPONSE_MODE PASSED': t('It is supported.'),
  'RESPONSE_MODE FAILED': t('It is not supported for this redirect URI.'),
  'RESPONSE_MODE FAILED CLIENT_WEB_ORIGINS': t(
    'The application does not list the origin of the redirect URI.',
  ),
  'PUSHED_REQUEST PASSED': t('The request is pushed.'),
  'PUSHED_REQUEST FAILED': t('The request is not pushed.'),
  'RESPONSE_TYPE FAILED': t('Only code is supported.'),
  'SCOPE PASSED': t('The application may request them.'),
  'SCOPE FAILED': t('The application may request none of them.'),
  'PKCE PASSED REQUEST': t('The request has one.'),
  'PKCE PASSED': t('The application needs none.'),
  'PKCE FAILED': t('The application needs one.'),
  'PKCE FAILED REQUEST': t('It is not valid.'),
  'PROMPT PASSED': t('It is supported.'),
  'PROMPT FAILED': t('It is not supported.'),
  'PROMPT FAILED TENANT_SIGN_UP': t('Nobody can sign up here.'),
  'MAX_AGE FAILED': t('It is not valid.'),
  'RESOURCE PASSED': t('They are known.'),
  'RESOURCE FAILED': t('No application declares this API.'),
  'CLAIMS PASSED': t('They are valid.'),
  'CLAIMS FAILED': t('They are not valid.'),
  'DPOP FAILED': t('It is not valid.'),
  'ID_TOKEN_HINT FAILED': t('It is not an ID token of this tenant.'),
  'USER FAILED': t('There is no such user: deleted since.'),
  'LOCK PASSED': t('The user is not locked.'),
  'LOCK FAILED': t('The user is locked.'),
  'ACR FAILED': t('No method is as strong as the request demands.'),
  'SESSION FAILED': t('Nobody is signed in, and the request forbids to ask.'),
  'METHOD PASSED': t('It can be used.'),
  'METHOD FAILED': t('None of them can be used.'),
  'METHOD UNKNOWN': t('Your roles do not permit to see it.'),
  'METHOD UNAVAILABLE REQUEST': t('It is not as strong as the request demands.'),
  'METHOD UNAVAILABLE TENANT_SIGN_IN_METHODS': t('The tenant does not offer it.'),
  'METHOD UNAVAILABLE TENANT_PASSCODE_CHANNELS': t('The tenant sends no codes this way.'),
  'METHOD UNAVAILABLE TENANT_SMS_COUNTRIES': t('No text messages are sent to the country of the number.'),
  'METHOD UNAVAILABLE USER_ADDRESS': t('The user has no such address.'),
  'METHOD UNAVAILABLE USER_ADDRESS VERIFY_ADDRESS': t(
    'The address is not verified, and the user has another that is.',
  ),
  'METHOD UNAVAILABLE USER_SIGN_IN_LIMITS': t('Too many codes were requested.'),
  'METHOD UNAVAILABLE USER_CREDENTIALS': t('The user has no passkey.'),
  'METHOD UNAVAILABLE PROVIDER': t('Its configuration is not complete.'),
  'METHOD UNAVAILABLE USER_IDENTITIES': t('The user has no account there that is linked.'),
  'SECOND_FACTOR PASSED': t('None is asked for.'),
  'SECOND_FACTOR ASKED': t('The user is asked for one, or to set one up, after:'),
  'SECOND_FACTOR FAILED': t('It is missing, and the request forbids to ask.'),
  'SUBJECT FAILED': t('The request is about another user.'),
  'TERMS PASSED': t('The user has agreed.'),
  'TERMS ASKED': t('The user is asked to agree.'),
  'ORGANIZATION_POLICY PASSED': t('The rules of the organization permit it.'),
  'ORGANIZATION_POLICY FAILED': t('The rules of the organization forbid it.'),
  'ORGANIZATION_POLICY UNKNOWN': t('It depends on the network of the user.'),
  'CONSENT PASSED': t('The user is not asked.'),
  'CONSENT PASSED USER_CONSENT': t('The user has consented.'),
  'CONSENT ASKED': t('The user is asked to consent.'),
  'CONSENT FAILED': t('It is missing, and the request forbids to ask.'),
  'GRANTED_SCOPES PASSED': t('The user grants them.'),
  'GRANTED_SCOPES PASSED USER_ROLES': t('The roles of the user do not permit the others.'),
}

/** A step in words; those of the server for one that the console does not know. */
export function describeStep({ check, outcome, rule, remedy, description }: Step): string {
  const names = [check, outcome, rule, remedy?.action ?? '']
  for (let length = names.length; length > 1; length--) {
    const found = OUTCOMES[names.slice(0, length).join(' ')]
    if (found !== undefined) return found
  }
  return description
}

/** What decided a step. */
export const RULES: Record<string, string> = {
  REQUEST: t('the request'),
  CLIENT: t('the client id'),
  CLIENT_APP_TYPE: t('the kind of the application'),
  CLIENT_CALLBACKS: t('the redirect URIs of the application'),
  CLIENT_WEB_ORIGINS: t('the web origins of the application'),
  CLIENT_SCOPES: t('the scopes of the application'),
  CLIENT_REQUIRE_PUSHED_REQUESTS: t('the application must push its requests'),
  CLIENT_REQUIRE_PKCE: t('whether the application must use PKCE'),
  CLIENT_REQUIRE_SECOND_FACTOR: t('the application demands a second factor'),
  CLIENT_REQUIRE_CONSENT: t('whether the application asks for consent'),
  ORGANIZATION_SIGN_IN_METHODS: t('the methods of the organization'),
  ORGANIZATION_REQUIRE_SECOND_FACTOR: t('the organization demands two factors'),
  ORGANIZATION_SESSION_LIFETIME: t('the lifetime of sessions in the organization'),
  ORGANIZATION_ALLOWED_NETWORKS: t('the networks of the organization'),
  RESOURCES: t('the APIs of the tenant'),
  TENANT_SIGN_UP: t('who may sign up'),
  TENANT_SIGN_IN_METHODS: t('the sign-in methods of the tenant'),
  TENANT_PASSCODE_CHANNELS: t('how the tenant sends codes'),
  TENANT_SMS_COUNTRIES: t('the countries of text messages'),
  TENANT_SECOND_FACTOR: t('the second factor of the tenant'),
  TENANT_SECOND_FACTOR_ROLES: t('roles that need a second factor'),
  TENANT_SESSION_LIFETIME: t('the lifetime of sessions in the tenant'),
  TENANT_TERMS: t('the terms of use of the tenant'),
  PROVIDER: t('the configuration of the provider'),
  USER: t('the user'),
  USER_LOCKED: t('the lock of the user'),
  USER_ADDRESS: t('the addresses of the user'),
  USER_SIGN_IN_LIMITS: t('the limits of the codes of the user'),
  USER_CREDENTIALS: t('passkeys and factors of the user'),
  USER_IDENTITIES: t('linked accounts of the user'),
  USER_ROLES: t('the roles of the user'),
  USER_CONSENT: t('the consent of the user'),
}
