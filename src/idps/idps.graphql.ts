import { builder } from '../graphql/builder.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, registerNode } from '../graphql/node.graphql.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { IdpShape } from './idps.fields.ts'
import { findIdentityProviders, type Idp } from './idps.ts'

const { id: _, ...fields } = IdpShape.shape

export const IdentityProviderRef = builder.objectRef<Idp>('IdentityProvider').implement({
  ...orAdministrator(
    withScope('idps:read', 'An upstream provider that authenticates users.'),
    ({ organizationId }: Idp) => organizationId,
  ),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: `${ID_DESCRIPTION} Chosen by the caller who made it.` }),
    ...buildObjectFields(t as never, fields, 'IdentityProvider'),
  }),
})

registerNode('idp', {
  ref: IdentityProviderRef,
  scope: 'idps:read',
  load: (id, { loaders }) => loaders.over(findIdentityProviders).load(id),
})
