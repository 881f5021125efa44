import { parseClientPathId } from '../access/client-ids.ts'
import type { IdPrefix } from '../core/crypto.ts'
import { requireClientId, requireIdpId, requireNodeId } from '../graphql/node.graphql.ts'

/** A kind of objects, and how the id of one is read. */
type Kind = {
  /** The description of the id. */
  description: string
  /** Reads an id of a GraphQL input. Throws InvalidInput about `field`. */
  require: (id: string, field: string) => string
  /** Reads a parameter of a REST path; the service answers with NotFound to an id of nothing. */
  parse: (segment: string) => string
}

const withPrefix = (prefix: IdPrefix, words: string = prefix): Kind => ({
  description: `Id of the ${words}.`,
  require: (id, field) => requireNodeId(prefix, id, field),
  parse: (segment) => segment,
})

/** The objects that operations are about, by the name of the member and of the path parameter with the id. */
const KINDS = {
  userId: withPrefix('user'),
  sessionId: withPrefix('session'),
  credentialId: withPrefix('cred', 'credential'),
  invitationId: withPrefix('invitation'),
  organizationId: withPrefix('organization'),
  membershipId: withPrefix('membership'),
  organizationDomainId: withPrefix('orgdomain', 'domain of an organization'),
  apiKeyId: withPrefix('apikey', 'API key'),
  registrationTokenId: withPrefix('regtoken', 'registration token'),
  bulkJobId: withPrefix('bulkjob', 'bulk job'),
  trustedDocumentId: withPrefix('trusteddoc', 'registered document'),
  apiId: withPrefix('api', 'API'),
  appRoleId: withPrefix('role'),
  managementRoleId: withPrefix('mgmtrole', 'management role'),
  groupId: withPrefix('group'),
  webhookId: withPrefix('webhook'),
  webhookDeliveryId: withPrefix('delivery', 'message of a webhook'),
  signalStreamId: withPrefix('stream'),
  clientId: { description: 'Id of the client.', require: requireClientId, parse: parseClientPathId },
  idpId: { description: 'Id of the identity provider.', require: requireIdpId, parse: (segment) => segment },
  slug: { description: 'Slug of the tenant.', require: (id) => id, parse: (segment) => segment },
} satisfies Record<string, Kind>

/** The name of a member with the id of an object. */
export type Target = keyof typeof KINDS
/** The ids of the objects that an operation is about. */
export type TargetIds<Name extends Target> = Record<Name, string>

export const describeTarget = (target: Target): string => KINDS[target].description

/** Reads the id of an argument of GraphQL. Throws InvalidInput about `field`. */
export const readTarget = (target: Target, id: string, field: string): string =>
  KINDS[target].require(id, field)

/** Reads the ids of a GraphQL input. Throws InvalidInput that names the first id of another kind. */
export const readTargets = <Name extends Target>(
  targets: readonly Name[],
  input: Record<string, unknown>,
): TargetIds<Name> =>
  Object.fromEntries(
    targets.map((name) => [name, readTarget(name, input[name] as string, name)]),
  ) as TargetIds<Name>

/** Reads the ids of the parameters of a REST path. */
export const parseTargets = <Name extends Target>(
  targets: readonly Name[],
  params: Record<string, string>,
): TargetIds<Name> =>
  Object.fromEntries(targets.map((name) => [name, KINDS[name].parse(params[name] ?? '')])) as TargetIds<Name>
