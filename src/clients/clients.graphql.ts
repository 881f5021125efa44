import { builder } from '../graphql/builder.ts'
import { withScopeOrOwnClient } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, registerNode } from '../graphql/node.graphql.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { ClientShape } from './clients.fields.ts'

export const ClientRef = builder.prismaObject('Client', {
  ...withScopeOrOwnClient('clients:read', 'An application that signs users in or calls the management API.'),
  interfaces: [Node],
  fields: (t) => {
    const { id: _, ...shapes } = ClientShape.shape
    return {
      id: t.exposeID('id', { description: `${ID_DESCRIPTION} Also the OAuth client_id.` }),
      ...buildObjectFields(t as never, shapes, 'Client'),
    }
  },
})

registerNode('client', {
  ref: ClientRef,
  scope: 'clients:read',
  load: (id, { loaders }) => loaders.client.load(id),
})
