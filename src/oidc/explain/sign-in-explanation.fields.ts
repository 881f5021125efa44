import * as z from 'zod'
import { readIdPrefix } from '../../core/crypto.ts'
import { EventShape } from '../../events/list.fields.ts'
import { defineEnum } from '../../schema/enums.ts'
import { requiredText } from '../../schema/input-shapes.ts'
import {
  asId,
  clientIdShape,
  createIdPattern,
  createIdShape,
  idShape,
  jsonObjectShape,
} from '../../schema/response-shapes.ts'
import { ipAddress } from '../../sessions/sessions.fields.ts'

/** A request that the server has received may be longer; see MAX_REQUEST_CHARACTERS. */
const MAX_EXPLAINED_CHARACTERS = 8000

const TRANSPORT = defineEnum('SignInTransport', 'How a client sends its authorize request.', {
  redirect: 'By redirecting the browser.',
  pushed: 'To the endpoint of pushed requests (RFC 9126).',
})

const CHECK = defineEnum('SignInCheck', 'What decides about a sign-in, in the order of the decision.', {
  client: 'The client.',
  parameters: 'The parameters: none is repeated, unsupported or cannot be stored.',
  'redirect-uri': 'The redirect URI.',
  'response-mode': 'The response mode.',
  'pushed-request': 'Whether the client has to push the request.',
  'response-type': 'The response type.',
  scope: 'The requested scopes.',
  pkce: 'The code challenge.',
  prompt: 'The prompts.',
  'max-age': 'The greatest age of the sign-in.',
  resource: 'The requested APIs.',
  claims: 'The requested claims.',
  dpop: 'The key that the code is bound to.',
  'id-token-hint': 'The ID token of an earlier sign-in.',
  user: 'Whether the user exists.',
  lock: 'Whether the user is locked.',
  acr: 'Whether a method of the tenant satisfies the requested `acr`.',
  session: 'Whether the request permits to ask for a sign-in.',
  method: 'A method by which users sign in.',
  'second-factor': 'Whether a second factor follows the first proof.',
  subject: 'Whether the request is about this user.',
  terms: 'Whether the user has agreed to the terms of use.',
  organization: 'The organization that the tokens are for.',
  'organization-policy': 'What that organization demands of the sign-in.',
  consent: 'Whether the user has consented.',
  'granted-scopes': 'The scopes that the user can grant.',
})
export type SignInCheck = (typeof CHECK.values)[number]

const OUTCOME = defineEnum('SignInOutcome', 'The outcome of a check.', {
  passed: 'Nothing is in the way.',
  asked: 'The user is asked on a page.',
  unavailable: 'The user cannot use the method.',
  failed: 'The sign-in ends here.',
  unknown: 'The scopes of the caller do not permit to say.',
})
export type SignInOutcome = (typeof OUTCOME.values)[number]

const RULE = defineEnum('SignInRule', 'What decides a check.', {
  request: 'A parameter of the request.',
  client: 'That the client is registered.',
  clientAppType: '`appType` of the client.',
  clientCallbacks: '`callbacks` of the client.',
  clientWebOrigins: '`webOrigins` of the client.',
  clientScopes: '`scopes` of the client.',
  clientRequirePushedRequests: '`requirePushedRequests` of the client.',
  clientRequirePkce: '`requirePkce` of the client.',
  clientRequireSecondFactor: '`requireSecondFactor` of the client.',
  clientOrganization: '`organization` of the client.',
  clientRequireConsent: '`requireConsent` of the client.',
  organizationSignInMethods: '`signInMethods` of the organization.',
  organizationRequireSecondFactor: '`requireSecondFactor` of the organization.',
  organizationSessionLifetime: '`sessionLifetimeSeconds` of the organization.',
  organizationAllowedNetworks: '`allowedNetworks` of the organization.',
  resources: 'The APIs that clients of the tenant declare, and `defaultAudience` of the tenant.',
  tenantSignUp: '`signUp` of the tenant.',
  tenantSignInMethods: '`signInMethods` of the tenant.',
  tenantPasscodeChannels: '`passcodeChannels` of the tenant, and the gateway for text messages.',
  tenantSmsCountries: '`smsCountries` of the tenant.',
  tenantSecondFactor: '`secondFactor` of the tenant.',
  tenantSecondFactorRoles: '`secondFactorRoles` of the tenant.',
  tenantSessionLifetime: '`sessionLifetimeSeconds` of the tenant.',
  tenantTerms: '`termsUrl` and `termsVersion` of the tenant.',
  provider: 'The configuration of the identity provider.',
  user: 'That the user exists.',
  userLocked: '`locked` of the user.',
  userAddress: 'The address of the user, and whether it is verified.',
  userSignInLimits: '`signInLimits` of the user.',
  userCredentials: 'The credentials of the user.',
  userIdentities: 'The linked identities of the user.',
  userRoles: 'The roles of the user.',
  userConsent: 'The consent of the user for the client.',
})
export type SignInRule = (typeof RULE.values)[number]

const ACTION = defineEnum('SignInRemedyAction', 'A change that lets a check pass.', {
  'change-request':
    'The client sends `value` as the parameter `parameter`; without a value it leaves it out or corrects it.',
  'push-request': 'The client pushes its request.',
  'choose-client': 'Another client is used: this one signs no users in.',
  'add-redirect-uri': 'Add `value` to `callbacks` of the client.',
  'add-web-origin': 'Add `value` to `webOrigins` of the client.',
  'assign-scope': 'Add `value` to `scopes` of the client.',
  'declare-resource': 'Add `value` to `resources` of the client that is this API.',
  'open-sign-up': 'Let strangers sign up: `signUp` of the tenant.',
  'add-method': 'Add `value` to `signInMethods` of the tenant.',
  'change-organization': 'Change the field of the organization that decided.',
  'add-channel': 'Add `value` to `passcodeChannels` of the tenant, and connect a gateway for text messages.',
  'add-country': 'Add the country of the number to `smsCountries` of the tenant.',
  'complete-provider': 'Complete the configuration of the identity provider.',
  'unlock-user': 'Unlock the user.',
  'add-address': 'Give the user an address of this channel.',
  'verify-address': 'Verify the address of the user.',
  'reset-limits': 'Reset the limits of the codes of the user.',
  'enroll-passkey': 'Send the user an enrollment link.',
  'link-identity': 'Link an identity at the provider to the user.',
})

/** What is explained. Each member needs the scope that its object is read with. */
export const ExplainInput = z.strictObject({
  userId: asId(requiredText(200).refine((id) => readIdPrefix(id) === 'user', 'is not the id of a user'))
    .nullish()
    .meta({
      pattern: createIdPattern('user'),
      description: 'The user who signs in. Needs users:read.',
      example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
    }),
  clientId: asId(requiredText(2048))
    .nullish()
    .meta({ description: 'The client that asks for the sign-in. Needs clients:read.' }),
  request: requiredText(MAX_EXPLAINED_CHARACTERS).nullish().meta({
    description:
      'The authorize request: its URL, or its query string. Without it, a plain request of the client is explained. Needs clients:read.',
    example: 'response_type=code&scope=openid%20email&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback',
  }),
  transport: TRANSPORT.shape
    .nullish()
    .meta({ description: 'How the client sends the request; by default, by redirect.', example: 'redirect' }),
  ip: ipAddress.nullish().meta({
    description: 'The address of the user, for organizations with `allowedNetworks`.',
    example: '203.0.113.7',
  }),
  requestId: requiredText(200).nullish().meta({
    description:
      'The id of a rejected request, such as an error page shows it: user, client and the known parameters are those of its event, where they are not given. Needs events:read.',
    example: 'a4e1c1c7-5f0c-4d39-9a5e-0d6d3a1f7b52',
  }),
})

const RemedyShape = z
  .object({
    action: ACTION.shape.meta({ description: 'What to change.', example: 'add-redirect-uri' }),
    targetId: idShape.nullable().meta({
      description:
        'Id of the user, the client, the organization or the identity provider to change; null for a request or the tenant.',
      example: 'client_01k7r3m8wxe4gbr5v2c9t6hznq',
    }),
    parameter: z.string().nullable().meta({
      description: 'The parameter of the request to change; null for other changes.',
      example: null,
    }),
    value: z.string().nullable().meta({
      description: 'The value to set or to add, if there is one.',
      example: 'https://app.example.com/callback',
    }),
  })
  .meta({ id: 'SignInRemedy', description: 'The smallest change that lets a check pass.' })
export type SignInRemedy = z.output<typeof RemedyShape>

const StepShape = z
  .object({
    check: CHECK.shape.meta({ description: 'What was checked.', example: 'redirect-uri' }),
    outcome: OUTCOME.shape.meta({ description: 'What came out.', example: 'failed' }),
    rule: RULE.shape.meta({ description: 'What decided it.', example: 'clientCallbacks' }),
    values: z.array(z.string()).meta({
      description: 'The values that it is about, such as the redirect URI, scopes, or the name of a method.',
      example: ['https://app.example.com/callback'],
    }),
    error: z.string().nullable().meta({
      description: 'The error code that the client gets; null without one.',
      example: 'invalid_request',
    }),
    description: z.string().meta({
      description: 'The outcome in words.',
      example: 'The redirect_uri is not registered for this client.',
    }),
    remedy: RemedyShape.nullable().meta({
      description: 'The smallest change that lets it pass, if there is one.',
    }),
  })
  .meta({ id: 'SignInStep', description: 'A check of a sign-in, and its outcome.' })
export type SignInStep = z.output<typeof StepShape>

export const ExplanationShape = z
  .object({
    succeeds: z.boolean().nullable().meta({
      description:
        'Whether the user can sign in, or without a user, whether the request is accepted; null where the scopes of the caller do not permit to say.',
      example: false,
    }),
    userId: createIdShape('user').nullable().meta({ description: 'The user, if there is one.' }),
    clientId: clientIdShape.nullable().meta({ description: 'The client; null for the account pages.' }),
    request: z.string().nullable().meta({
      description: 'The explained parameters of the request; null without a client.',
      example: 'client_id=client_01k7r3m8wxe4gbr5v2c9t6hznq&response_type=code&scope=openid',
    }),
    steps: z.array(StepShape).meta({ description: 'The checks, in the order of the decision.' }),
    scopes: z
      .array(z.string())
      .meta({ description: 'The scopes of the tokens.', example: ['openid', 'email'] }),
    audience: z.array(z.string()).meta({
      description: 'The APIs that the access token is for.',
      example: ['https://id.example.com/acme/oidc/userinfo'],
    }),
    idTokenClaims: jsonObjectShape.nullable().meta({
      description: 'The claims about the user in the ID token; null without one.',
      example: { sub: 'user_01k7r3m8wxe4gbr5v2c9t6hznq' },
    }),
    userinfoClaims: jsonObjectShape.nullable().meta({
      description: 'The claims of the userinfo response; null without the scope openid.',
      example: { sub: 'user_01k7r3m8wxe4gbr5v2c9t6hznq', email: 'ada@example.com' },
    }),
  })
  .meta({ typeName: 'SignInExplanation' })
export type Explained = z.output<typeof ExplanationShape>

/** The description of the event of an explanation. */
export const EVENT_DESCRIPTION = 'The event of the rejected request; null without one.'

export const ExplanationBodyShape = ExplanationShape.extend({
  event: EventShape.nullable().meta({ description: EVENT_DESCRIPTION, example: null }),
}).meta({ id: 'SignInExplanation', description: 'Why a user can sign in at a client, or cannot.' })
