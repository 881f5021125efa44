import { isInputObjectType } from 'graphql'
import { describe, expect } from 'vitest'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { hashTables, test, toCode } from '../support/isolation.ts'
import { rootFields, schema } from '../support/schema.ts'

const mutations = rootFields.filter(([, kind]) => kind === 'mutation')

describe('every mutation', () => {
  test.for(mutations)(
    '%s rejects the token of a user without a role as FORBIDDEN',
    async (root, { run, own, userToken }) => {
      const before = await hashTables(own.tenant)
      expect(toCode(await run(userToken, root))).toBe('FORBIDDEN')
      expect(await hashTables(own.tenant)).toEqual(before)
    },
  )
})

/** All columns of a tenant but those that the service sets. */
const SETTING_NAMES = Object.keys(Prisma.TenantScalarFieldEnum)
  .filter((name) => !/^(tenantId|tokenKey|.*FailingSince|eventsTrimmedTo|updatedAt|createdAt)$/.test(name))
  .join(' ')

const CLIENT_MEMBERS =
  'name appType description scopes themeColor logoUrl clientUri policyUrl termsUrl translations callbacks allowedOrigins webOrigins allowedLogoutUrls initiateLoginUrl tokenExpiryTime requireConsent jwks jwksUri backchannelLogoutUrl idTokenSigningAlg userInfoSigningAlg idTokenClaims claimMappings groupsClaim profile requirePushedRequests requirePkce tokenEndpointAuthMethod requireIssuerAudience requireFapiAlgorithms dpopBoundAccessTokens rotateRefreshTokens requireSecondFactor organization defaultMaxAge acceptedDocuments resources'

const USER_FIELD_NAMES =
  'name givenName familyName middleName nickname preferredUsername profile picture website email emailVerified gender birthdate zoneinfo locale phoneNumber phoneNumberVerified locked address userMetadata appMetadata'

/** Every member that can be written. A new member of an input type is added here deliberately. */
const WRITABLE = {
  CreateUserInput: USER_FIELD_NAMES,
  UpdateUserInput: `userId expectedUpdatedAt ${USER_FIELD_NAMES}`,
  CreateClientInput: `type ${CLIENT_MEMBERS}`,
  UpdateClientInput: `clientId expectedUpdatedAt ${CLIENT_MEMBERS}`,
  TenantSettingsInput: SETTING_NAMES,
  UpdateTenantSettingsInput: `expectedUpdatedAt ${SETTING_NAMES}`,
  ImportCsvInput: 'csv isLast delimiter columns line exceptLines dryRun',
  BulkUpdateUsersInput: 'action userIds filter roles',
  CancelBulkJobInput: 'bulkJobId',
  RevokeClientAccessInput: 'clientId',
  CreateApiKeyInput: 'name userId organizationId scopes resources allowedNetworks expiresInSeconds',
  UpdateApiKeyInput: 'apiKeyId name scopes allowedNetworks',
  RotateApiKeyInput: 'apiKeyId overlapSeconds expiresInSeconds',
  RevokeApiKeyInput: 'apiKeyId',
  CreateOrganizationDomainInput: 'organizationId domain enrollment',
  UpdateOrganizationDomainInput: 'organizationDomainId enrollment',
  VerifyOrganizationDomainInput: 'organizationDomainId',
  DeleteOrganizationDomainInput: 'organizationDomainId',
  CreateInvitationInput:
    'email name note roles locale organizationId appRoleIds isAdministrator clientId expiresInSeconds',
  CreateWebhookInput: 'url description types payload enabled headers organizationId',
  UpdateWebhookInput: 'webhookId url description types payload enabled headers',
  WebhookHeaderInput: 'name value',
  RotateWebhookSecretInput: 'webhookId overlapSeconds',
  ReplayWebhookInput: 'webhookId after until',
  TestWebhookInput: 'webhookId data',
  DeleteWebhookInput: 'webhookId',
  UpdateSignalStreamInput: 'signalStreamId status statusReason allUsers',
  VerifySignalStreamInput: 'signalStreamId',
  DeleteSignalStreamInput: 'signalStreamId',
  RotateSignalsSecretInput: 'idpId',
  RedeliverWebhookDeliveriesInput: 'webhookId createdAfter createdBefore',
  RedeliverWebhookDeliveryInput: 'webhookDeliveryId',
  ResendInvitationInput: 'invitationId expiresInSeconds',
  RevokeInvitationInput: 'invitationId',
  SignUpFieldInput: 'field required label schema',
  CreateRegistrationTokenInput: 'note uses expiresInSeconds',
  RevokeRegistrationTokenInput: 'registrationTokenId',
  RegisterTrustedDocumentsInput: 'clientId documents',
  TrustedDocumentInput: 'documentId text',
  DeleteTrustedDocumentInput: 'trustedDocumentId',
  RotateSigningKeysInput: 'activateInSeconds retireAtOnce',
  SetUserRolesInput: 'userId roles',
  CreateCredentialEnrollmentTokenInput: 'userId type send',
  RevokeCredentialInput: 'credentialId',
  CreateIdentityProviderInput:
    'id type name clientId clientSecret scopes issuer authorizationEndpoint tokenEndpoint userInfoEndpoint jwksUri idTokenSigningAlg idTokenSigningKey platformTeamId platformKid signalsIssuer organizationId entry domains trustEmail claims copyClaims trustAcr trustAmr upstreamLogout usePkce expectNonce keepTokens roleClaim claimRoles',
  UpdateIdentityProviderInput:
    'idpId expectedUpdatedAt name clientId clientSecret scopes issuer authorizationEndpoint tokenEndpoint userInfoEndpoint jwksUri idTokenSigningAlg idTokenSigningKey platformTeamId platformKid signalsIssuer organizationId entry domains trustEmail claims copyClaims trustAcr trustAmr upstreamLogout usePkce expectNonce keepTokens roleClaim claimRoles',
  AddIdpUserInput: 'userId idpId externalId metadata',
  LinkIdpUserInput: 'userId idpId idToken accessToken code redirectUri codeVerifier',
  UnlinkIdpUserInput: 'userId idpId',
  UpdateViewerInput:
    'expectedUpdatedAt name givenName familyName middleName nickname preferredUsername profile picture website gender birthdate zoneinfo locale address userMetadata',
  RequestEmailChangeInput: 'email',
  ConfirmEmailChangeInput: 'email code',
  RequestPhoneNumberChangeInput: 'phoneNumber',
  ConfirmPhoneNumberChangeInput: 'phoneNumber code',
  RemoveViewerPhoneNumberInput: 'phoneNumber',
  RevokeViewerSessionInput: 'sessionId',
  RevokeViewerSessionsInput: 'includeCurrent',
  RevokeViewerCredentialInput: 'credentialId',
  UnlinkViewerIdpUserInput: 'idpId',
  LinkViewerIdpUserInput: 'idpId idToken code redirectUri codeVerifier',
  CreateViewerEnrollmentTokenInput: 'type',
  RevokeViewerConsentInput: 'clientId',
  RevokeUserConsentInput: 'userId clientId',
}

const columnsExcept = (model: 'User' | 'Client' | 'Tenant', allowed: string[]) =>
  Object.keys(Prisma[`${model}ScalarFieldEnum`]).filter((column) => !allowed.includes(column))

/** Members that exist nowhere, and spellings that a careless merge of objects would follow. */
const OTHER_MEMBERS = [
  '__proto__',
  'constructor',
  'sessions',
  'tenant',
  'Tenant',
  'set',
  'connect',
  'roles.0',
  'isAdmin',
]

type Attempt = [method: string, path: string, body: object, member: string]

/** Requests that each write one column that is not writable. */
function listAttempts(userId: string): Attempt[] {
  const user = USER_FIELD_NAMES.split(' ')
  const client = WRITABLE.CreateClientInput.split(' ')
  const settings = WRITABLE.UpdateTenantSettingsInput.split(' ')
  const required = { name: 'x', appType: 'web', type: 'login' }
  return [
    ...[...columnsExcept('User', user), ...OTHER_MEMBERS].flatMap((member): Attempt[] => [
      ['POST', '/users', { [member]: 'x' }, member],
      ['PATCH', `/users/${userId}`, { [member]: 'x' }, member],
      ['PATCH', `/users/${userId}`, { address: { [member]: 'x' } }, member],
    ]),
    ...[...columnsExcept('Client', client), ...OTHER_MEMBERS, 'secret', 'secretHash'].map(
      // allTenants is a member of the service that only the command line sets.
      (member): Attempt => [
        'POST',
        '/clients',
        { ...required, [member]: member === 'allTenants' ? true : 'x' },
        member,
      ],
    ),
    ...[...columnsExcept('Tenant', settings), ...OTHER_MEMBERS].map(
      (member): Attempt => ['PATCH', '/settings', { [member]: 'x' }, member],
    ),
    // Parsed, because a literal with __proto__ sets the prototype.
    ...['/users', '/clients', '/settings'].map(
      (path): Attempt => [
        path === '/settings' ? 'PATCH' : 'POST',
        path,
        JSON.parse('{"__proto__":{"locked":true}}'),
        '__proto__',
      ],
    ),
  ]
}

describe('a request that writes', () => {
  test.for(Object.entries(WRITABLE))('takes the listed members of %s only', ([name, members]) => {
    const type = schema.getType(name)
    const names = isInputObjectType(type) ? Object.keys(type.getFields()) : []
    expect(names.sort()).toEqual(members.split(' ').sort())
  })

  test('is rejected over REST when it names any other column of a user, client or tenant', async ({
    app,
    own,
  }) => {
    const before = await hashTables(own.tenant)
    for (const [method, path, body, member] of listAttempts(own.userId)) {
      const { status } = await app.fetch(`/${own.tenant}/api/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${own.token}` },
        body: JSON.stringify(body),
      })
      expect([method, path, member, [400, 403].includes(status)]).toEqual([method, path, member, true])
    }
    expect(await hashTables(own.tenant)).toEqual(before)
  })
})

describe('a passcode', () => {
  test('is in no response to the caller that requests it', async ({ rest, gql, events, inbox, email }) => {
    const tenant = await newTenant()
    const target = { tenant, token: await tokenFor(tenant) }
    const [address, phoneNumber] = [email('new'), '+41791110000']
    const sent = [
      await rest('POST', '/passcodes/email', { to: address, createUser: true }, target),
      await rest('POST', '/passcodes/sms', { to: phoneNumber, createUser: true }, target),
    ]
    expect(await events({ tenant })).not.toEqual([])
    const answers = [
      ...sent,
      await gql(
        '{ events(first: 100) { nodes { type: typeName ... on AuditEvent { detail subjectIds changedFields } } } }',
        {},
        target,
      ),
      await gql('{ users { nodes { id email userMetadata appMetadata } } }', {}, target),
    ]
    const text = JSON.stringify(answers.map(({ body }) => body)).replace(
      /"[^"]*_[0-9a-z]{26}"|\d{4}-[\dT:.-]+Z/g,
      '',
    )
    for (const code of [await inbox.codeFor(address), await inbox.codeFor(phoneNumber)])
      expect(text).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`))
  })
})
