import { describe, expect, test } from 'vitest'
import { listOperations, type Schema, schemas, systemDocument } from '../support/openapi-document.ts'

/** The operations that every version of the API has, by their names. */
const STABLE_OPERATIONS = {
  'Create user': 'post /users',
  'List users': 'get /users',
  'Get user by id': 'get /users/{userId}',
  'Update user': 'patch /users/{userId}',
  'Delete user': 'delete /users/{userId}',
  'Get user by email': 'get /users/by-email',
  'Get user by phone number': 'get /users/by-phone-number',
  'List user sessions': 'get /users/{userId}/sessions',
  'Authenticate session token': 'post /sessions/authenticate',
  'Get session': 'get /sessions/{sessionId}',
  'Create credential enrollment token': 'post /users/{userId}/credentials/enrollment-tokens',
  'List user credentials': 'get /users/{userId}/credentials',
  'Get credential': 'get /credentials/{credentialId}',
  'Revoke credential': 'delete /credentials/{credentialId}',
  'Send email one-time passcode': 'post /passcodes/email',
  'Send SMS one-time passcode': 'post /passcodes/sms',
  'Authenticate passcode': 'post /passcodes/authenticate',
  'List IdP users of a user': 'get /users/{userId}/idps',
  'Add IdP user': 'post /users/{userId}/idps/{idpId}',
  'Get IdP user': 'get /users/{userId}/idps/{idpId}',
  'Link IdP user': 'put /users/{userId}/idps/{idpId}',
  'Unlink IdP user': 'delete /users/{userId}/idps/{idpId}',
  'Create identity provider': 'post /idps',
  'List identity providers': 'get /idps',
  'Create client': 'post /clients',
  'List clients': 'get /clients',
  'Get client': 'get /clients/{clientId}',
  'Update client': 'patch /clients/{clientId}',
  'Delete client': 'delete /clients/{clientId}',
  'Update tenant settings': 'patch /settings',
}

/** All other operations. */
const FURTHER_OPERATIONS = [
  'delete /users/{userId}/sessions',
  'get /sessions',
  'delete /sessions/{sessionId}',
  'get /idps/{idpId}',
  'patch /idps/{idpId}',
  'delete /idps/{idpId}',
  'get /users/{userId}/consents',
  'delete /users/{userId}/consents/{clientId}',
  'post /clients/{clientId}/secret',
  'post /clients/registration-tokens',
  'get /clients/registration-tokens',
  'delete /clients/registration-tokens/{registrationTokenId}',
  'post /api-keys',
  'get /api-keys',
  'get /api-keys/{apiKeyId}',
  'patch /api-keys/{apiKeyId}',
  'delete /api-keys/{apiKeyId}',
  'post /api-keys/{apiKeyId}/rotate',
  'post /webhooks',
  'get /webhooks',
  'get /webhooks/{webhookId}',
  'patch /webhooks/{webhookId}',
  'delete /webhooks/{webhookId}',
  'post /webhooks/{webhookId}/rotate',
  'post /webhooks/{webhookId}/replay',
  'post /webhooks/{webhookId}/test',
  'get /webhooks/{webhookId}/deliveries',
  'post /webhooks/{webhookId}/deliveries/redeliver',
  'get /webhook-deliveries/{webhookDeliveryId}',
  'post /webhook-deliveries/{webhookDeliveryId}/redeliver',
  'get /signal-streams',
  'get /signal-streams/{signalStreamId}',
  'patch /signal-streams/{signalStreamId}',
  'post /signal-streams/{signalStreamId}/verify',
  'delete /signal-streams/{signalStreamId}',
  'post /idps/{idpId}/signals-secret',
  'get /settings',
  'get /keys',
  'post /keys/rotate',
  'get /events',
  'post /tenants',
  'get /tenants',
  'get /tenants/{slug}',
  'delete /tenants/{slug}',
  'get /users/{userId}/roles',
  'put /users/{userId}/roles',
  'post /users/import',
  'get /users/export',
]

const splitWords = (list: string) => list.split(' ')

/** The fields that every version of the API has, in their order. */
const STABLE_FIELDS: Record<string, string[]> = {
  User: splitWords(
    'id name givenName familyName middleName nickname preferredUsername profile picture website email emailVerified gender birthdate zoneinfo locale phoneNumber phoneNumberVerified locked lockedAt address userMetadata appMetadata lastSeenAt updatedAt createdAt',
  ),
  Address: splitWords('formatted streetAddress locality region postalCode country'),
  Session: splitWords(
    'id userId clientId lastSeenAt lastSeenIp lastSeenLocation userAgent expiresAt updatedAt createdAt',
  ),
  Credential: splitWords('id type publicKey lastUsedAt createdAt device'),
  Device: splitWords(
    'hash swVersion mobile platform architecture bitness model platformVersion uaBrand uaVersion lastSeenIp lastSeenAt',
  ),
  EnrollmentToken: splitWords('token uri deepLink'),
  RequestMetadata: splitWords('deviceToken userAgent ipAddress'),
  IdpUser: splitWords('idpId userId externalId metadata lastLoginAt updatedAt createdAt'),
  // clientSecret and idTokenSigningKey are write-only.
  IdentityProvider: splitWords(
    'id type name clientId scopes issuer authorizationEndpoint tokenEndpoint userInfoEndpoint jwksUri idTokenSigningAlg platformTeamId platformKid updatedAt createdAt',
  ),
  NewClient: splitWords(
    'id name description appType themeColor logoUrl callbacks allowedOrigins webOrigins allowedLogoutUrls initiateLoginUrl tokenExpiryTime requireConsent type secret updatedAt createdAt',
  ),
  TenantSettings: splitWords('friendlyName logoUrl defaultAudience loginUrl supportUrl'),
  AuthenticatedSession: splitWords('session sessionToken user'),
  SentPasscode: splitWords('to userId userCreated'),
  Error: splitWords('message requestId fields'),
  Done: splitWords('message requestId fields'),
}

/** The members of list responses that contain the rows. */
const STABLE_LISTS: Record<string, string> = {
  '/users': 'users',
  '/users/{userId}/sessions': 'sessions',
  '/users/{userId}/credentials': 'credentials',
  '/users/{userId}/idps': 'idpUsers',
  '/idps': 'idps',
  '/signal-streams': 'signalStreams',
  '/clients': 'clients',
}

describe('the REST API', () => {
  const names = new Set(listOperations(systemDocument).map(({ name }) => name))

  test.each(Object.entries(STABLE_OPERATIONS))('has the operation %s: %s', (_, name) => {
    expect(names).toContain(name)
  })
  test.each(FURTHER_OPERATIONS)('has the operation %s', (name) => {
    expect(names).toContain(name)
  })

  test.each(Object.entries(STABLE_FIELDS))('has the fields of %s, in their order', (name, fields) => {
    const { properties } = schemas[name] as Schema
    expect(Object.keys(properties ?? {}).filter((field) => fields.includes(field))).toEqual(fields)
  })

  test('returns lists with page, pageSize, totalSize, endsEarly and the rows', () => {
    for (const [path, name] of Object.entries(STABLE_LISTS)) {
      const answer = systemDocument.paths[path]?.get?.responses['200'] as {
        content: Record<string, { schema: Schema }>
      }
      expect([path, Object.keys(answer.content['application/json']?.schema.properties ?? {})]).toEqual([
        path,
        ['page', 'pageSize', 'totalSize', 'endsEarly', name],
      ])
    }
  })

  test('has no secrets in the objects that it returns', () => {
    for (const name of ['Client', 'IdentityProvider', 'Session', 'Credential', 'User'])
      expect(
        Object.keys((schemas[name] as Schema).properties ?? {}).filter(
          (field) => /secret|signingKey|token$/i.test(field) && !field.startsWith('has'),
        ),
      ).toEqual([])
  })
})
