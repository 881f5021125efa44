import { EventInterface } from '../events/event-types.graphql.ts'
import { EVENT } from '../events/events.operations.ts'
import { withPublicAccess } from '../graphql/field-access.ts'
import { composeId, findNodeOf, type Kind, Node } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineComputedList } from '../operations/query.ts'
import type { RestRoute } from '../rest/route.ts'
import {
  LOOKUP_SCOPES,
  LookupInput,
  type LookupKind,
  LookupMatchShape,
  LookupResultShape,
  MAX_MATCHES,
} from './lookup.fields.ts'
import { type LookupMatch, lookup } from './lookup.ts'

/** The kinds of matches that are objects of GraphQL. */
const NODE_KINDS: Partial<Record<LookupKind, Kind>> = {
  user: 'user',
  session: 'session',
  credential: 'cred',
  'idp-user': 'idpuser',
  'identity-provider': 'idp',
  client: 'client',
  'registration-token': 'regtoken',
  invitation: 'invitation',
  'api-key': 'apikey',
  organization: 'organization',
  membership: 'membership',
  'organization-domain': 'orgdomain',
  api: 'api',
  'app-role': 'role',
  group: 'group',
  webhook: 'webhook',
  'webhook-delivery': 'delivery',
  'signal-stream': 'stream',
  'bulk-job': 'bulkjob',
  'trusted-document': 'trusteddoc',
  'signing-key': 'key',
  tenant: 'tenant',
}

const LookupMatchRef = defineObjectType<LookupMatch>(
  LookupMatchShape,
  withPublicAccess('An object, a request or an address that a text names.'),
  (t) => ({
    event: t.field({
      type: EventInterface,
      nullable: true,
      description: 'The event by which it was found; null for objects.',
      resolve: ({ event }) => event,
    }),
    node: t.field({
      type: Node,
      nullable: true,
      description: 'The object; null for a match that is not an object, and for another tenant.',
      resolve: ({ kind, id }, _args, context) => {
        const nodeKind = NODE_KINDS[kind]
        return nodeKind ? findNodeOf(nodeKind, nodeKind === 'key' ? composeId('key', id) : id, context) : null
      },
    }),
  }),
)

export const lookupOperations: readonly RestRoute[] = defineComputedList<LookupMatch>({
  name: 'lookup',
  summary: `Finds the objects, requests and addresses that a text names: up to ${MAX_MATCHES} matches, the best first. Matches that the caller may not read are left out.`,
  scopes: LOOKUP_SCOPES,
  args: LookupInput,
  members: 'matches',
  ref: LookupMatchRef,
  countItems: () => MAX_MATCHES,
  response: LookupResultShape,
  toBody: (ctx, { event, ...match }) => ({ ...match, event: event && EVENT.toBody(ctx, event) }),
  path: '/lookup',
  run: lookup,
})
