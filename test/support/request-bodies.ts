import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganizationDomain } from '../../src/organizations/organization-domains.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { createGroup } from '../../src/permissions/groups.ts'
import type { JsonSchema } from '../../src/rest/openapi-schemas.ts'
import { createManagementRole } from '../../src/users/management-roles.ts'
import { testWebhook } from '../../src/webhooks/deliveries.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { buildOpenApi, Contract } from './openapi.ts'
import { listOperations, systemDocument } from './openapi-document.ts'
import { makeClient, makeUser } from './protocol.ts'
import { addSignalStream } from './signal-streams.ts'

/** The documents of tenants differ in the operations and scopes of operators. */
const contracts = { tenant: new Contract(await buildOpenApi('any')), system: new Contract(systemDocument) }

/** The operations with a JSON body, with the schema and the example of the body. */
export const bodyOperations = listOperations(systemDocument).flatMap(({ operation, method, path }) => {
  const content = operation.requestBody?.content['application/json']
  if (!content) return []
  const isOfOperators = path.startsWith('/tenants')
  const contract = isOfOperators ? contracts.system : contracts.tenant
  const schema = contract.resolve((content.schema as JsonSchema).$ref ?? '') ?? {}
  const example = content.example as object
  return [
    {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      isOfOperators,
      contract,
      schema,
      example,
    },
  ]
})

/** Creates an object of the tenant for each id in a path, and returns the ids by their names. */
export async function createObjects(tenant: string): Promise<Record<string, string>> {
  const idpId = 'generated'
  await createIdentityProvider(createPlatformCtx(tenant), { id: idpId, type: 'google', name: 'x' })
  const { id: clientId } = await makeClient(tenant)
  const { id: userId } = await makeUser(tenant, `generated@${tenant}.example`)
  const invited = { email: `guest@${tenant}.example` }
  const { id: invitationId } = await createInvitation(createPlatformCtx(tenant), invited)
  const { id: organizationId } = await createOrganization(createPlatformCtx(tenant), {
    name: 'x',
    slug: 'generated',
  })
  const ctx = createPlatformCtx(tenant)
  const { id: apiId } = await createApi(ctx, { identifier: 'urn:generated', name: 'API' })
  const { id: managementRoleId } = await createManagementRole(ctx, {
    name: 'generated',
    scopes: ['users:read'],
  })
  const { id: appRoleId } = await createAppRole(ctx, { name: 'generated' })
  const { apiKey } = await createApiKey(ctx, { name: 'Export' })
  const { id: groupId } = await createGroup(ctx, { name: 'generated' })
  const { id: organizationDomainId } = await createOrganizationDomain(ctx, organizationId, {
    domain: 'generated.example',
  })
  const { id: membershipId } = await createMembership(ctx, organizationId, { userId })
  const { webhook } = await createWebhook(ctx, { url: 'https://hooks.example/vestibule' })
  const message = await testWebhook(ctx, webhook.id, {})
  return {
    idpId,
    clientId,
    userId,
    invitationId,
    organizationId,
    apiId,
    appRoleId,
    managementRoleId,
    groupId,
    membershipId,
    organizationDomainId,
    webhookId: webhook.id,
    webhookDeliveryId: message.id,
    signalStreamId: await addSignalStream(ctx, clientId),
    apiKeyId: apiKey.id,
  }
}
