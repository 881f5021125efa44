import type { Credential } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { defineConnectionType, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { withPublicAccess, withScopeOrOwner } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, registerNode } from '../graphql/node.graphql.ts'
import { addNodeSelection, buildNestedQuery, toNestedPage } from '../graphql/node-selection.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { getShapeDescription } from '../schema/schema-descriptions.ts'
import { UserRef } from '../users/users.graphql.ts'
import {
  CredentialShape,
  DEVICE_FIELDS,
  type Device,
  DeviceShape,
  toDevice,
  toDeviceColumn,
} from './credentials.fields.ts'
import { countUserCredentials } from './credentials.ts'
import { findAuthenticatorName } from './passkeys/authenticator-names.ts'

const DeviceRef = builder.objectRef<Device>('Device').implement({
  ...withPublicAccess(getShapeDescription(DeviceShape)),
  fields: (t) => buildObjectFields(t as never, DeviceShape.shape),
})

const DEVICE_COLUMNS = Object.fromEntries(DEVICE_FIELDS.map((field) => [toDeviceColumn(field), true]))

const { id: _, name, device: _device, ...columns } = CredentialShape.shape

/** A credential. Columns that only the sign-in needs are not exposed. */
export const CredentialRef = builder.prismaObject('Credential', {
  ...withScopeOrOwner(
    'credentials:read',
    'A credential that a user enrolled: a passkey, a security key or a second factor.',
    (credential: Credential) => credential.userId,
  ),
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: ID_DESCRIPTION }),
    userId: t.exposeID('userId', { description: 'Id of the user who enrolled it.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who enrolled it.',
      select: { userId: true },
      resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
    }),
    ...buildObjectFields(t as never, columns),
    name: t.string({
      nullable: true,
      description: getShapeDescription(name),
      select: { aaguid: true },
      resolve: ({ aaguid }) => findAuthenticatorName(aaguid),
    }),
    device: t.field({
      type: DeviceRef,
      nullable: true,
      description: 'The device on which it was enrolled; null when unknown.',
      select: DEVICE_COLUMNS as Record<'deviceHash', true>,
      resolve: (credential) => toDevice(credential as Credential),
    }),
  }),
})

registerNode('cred', {
  ref: CredentialRef,
  scope: 'credentials:read',
  load: (id, { loaders }) => loaders.credential.load(id),
})

const CredentialConnection = defineConnectionType('Credential', CredentialRef)

builder.prismaObjectField('User', 'credentials', (t) =>
  t.field({
    ...withScopeOrOwner(
      'credentials:read',
      'Credentials of the user, in order of enrollment.',
      ({ id }) => id,
    ),
    ...nestedConnectionField(CredentialConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      credentials: addNodeSelection(
        nested,
        'Credential',
        buildNestedQuery(args, context, 'User.credentials', {}),
      ),
    }),
    resolve: (user, args, context) =>
      toNestedPage(args, context, 'User.credentials', user.credentials, () =>
        countUserCredentials(context.ctx, user.id),
      ),
  }),
)
