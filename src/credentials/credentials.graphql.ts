import type { Credential } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import {
  connectionType,
  listOf,
  NESTED_PAGE_ARGS,
  nestedPage,
  nestedQuery,
  withNodes,
} from '../graphql/connection.ts'
import { ID_DESCRIPTION, Node, orNull, registerNode, requireId } from '../graphql/node.graphql.ts'
import { open, scoped, scopedOrOwn } from '../graphql/scoped.ts'
import { UserRef } from '../users/users.graphql.ts'
import {
  CREDENTIAL_TYPES,
  CredentialShape,
  DEVICE_FIELDS,
  type Device,
  DeviceShape,
  deviceColumn,
  deviceOf,
} from './credentials.fields.ts'
import { countUserCredentials, getCredential } from './credentials.ts'

export const CredentialTypeEnum = builder.enumType('CredentialType', {
  description: 'Kind of a credential.',
  values: {
    PUBLIC_KEY: {
      value: CREDENTIAL_TYPES[0],
      description: 'A key pair of the WebAuthn kind: a passkey or a security key.',
    },
  },
})

const describedBy = (shape: { meta: () => { description?: string } | undefined }): string =>
  shape.meta()?.description ?? ''

const DeviceRef = builder.objectRef<Device>('Device').implement({
  ...open('The device that a credential was enrolled on, as its browser described itself.'),
  fields: (t) =>
    Object.fromEntries(
      DEVICE_FIELDS.map((name) => {
        const options = { nullable: true as const, description: describedBy(DeviceShape.shape[name]) }
        if (name === 'mobile') return [name, t.exposeBoolean(name, options)]
        if (name === 'lastSeenAt') return [name, t.expose(name, { ...options, type: 'DateTime' })]
        return [name, t.exposeString(name, options)]
      }),
    ),
})

const DEVICE_COLUMNS = Object.fromEntries(DEVICE_FIELDS.map((field) => [deviceColumn(field), true]))

/** A credential. Nothing of what only signing in needs is shown. */
export const CredentialRef = builder.prismaObject('Credential', {
  ...scopedOrOwn(
    'credentials:read',
    'A credential that a user enrolled: a passkey or a security key.',
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
    type: t.field({
      type: CredentialTypeEnum,
      description: describedBy(CredentialShape.shape.type),
      select: { type: true },
      resolve: ({ type }) => type as (typeof CREDENTIAL_TYPES)[number],
    }),
    publicKey: t.exposeString('publicKey', {
      nullable: true,
      description: describedBy(CredentialShape.shape.publicKey),
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: describedBy(CredentialShape.shape.lastUsedAt),
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: describedBy(CredentialShape.shape.createdAt),
    }),
    device: t.field({
      type: DeviceRef,
      nullable: true,
      description: 'The device that it was enrolled on; null when nothing is known of it.',
      select: DEVICE_COLUMNS as Record<'deviceHash', true>,
      resolve: (credential) => deviceOf(credential as Credential),
    }),
  }),
})

registerNode('cred', {
  ref: CredentialRef,
  scope: 'credentials:read',
  load: (id, { loaders }) => loaders.credential.load(id),
})

const CredentialConnection = connectionType('Credential', CredentialRef)

builder.prismaObjectField('User', 'credentials', (t) =>
  t.field({
    ...scopedOrOwn('credentials:read', 'Credentials of the user, in order of enrolment.', ({ id }) => id),
    ...listOf(CredentialConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      credentials: withNodes(nested, 'Credential', nestedQuery(args, context, 'User.credentials', {})),
    }),
    resolve: (user, args, context) =>
      nestedPage(args, context, 'User.credentials', user.credentials, () =>
        countUserCredentials(context.ctx, user.id),
      ),
  }),
)

builder.queryField('credential', (t) =>
  t.field({
    ...scoped('credentials:read', 'One credential; null when there is none with this id.'),
    type: CredentialRef,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the credential.' }) },
    resolve: (_root, { id }, { ctx }) =>
      orNull(getCredential(ctx, requireId('cred', id)) as Promise<Credential>),
  }),
)
