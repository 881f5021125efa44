import type { CredentialType } from '../core/credential-types.ts'
import type { Credential } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { defineConnectionType, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { withPublicAccess, withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { ID_DESCRIPTION, Node, nullIfNotFound, registerNode, requireNodeId } from '../graphql/node.graphql.ts'
import { addNodeSelection, buildNestedQuery, toNestedPage } from '../graphql/node-selection.ts'
import { getShapeDescription } from '../schema/schema-descriptions.ts'
import { UserRef } from '../users/users.graphql.ts'
import { findAuthenticatorName } from './authenticator-names.ts'
import {
  CredentialShape,
  DEVICE_FIELDS,
  type Device,
  DeviceShape,
  toDevice,
  toDeviceColumn,
} from './credentials.fields.ts'
import { countUserCredentials, getCredential } from './credentials.ts'

export const CredentialTypeEnum = builder.enumType('CredentialType', {
  description: 'Kind of a credential.',
  values: {
    PUBLIC_KEY: {
      value: 'public-key',
      description: 'A key pair of the WebAuthn kind: a passkey or a security key.',
    },
    TOTP: { value: 'totp', description: 'An authenticator app that shows codes of six digits (RFC 6238).' },
    RECOVERY_CODES: {
      value: 'recovery-codes',
      description: 'Codes that are accepted once each instead of a code of the app.',
    },
  } satisfies Record<string, { value: CredentialType; description: string }>,
})

const DeviceRef = builder.objectRef<Device>('Device').implement({
  ...withPublicAccess('The device on which a credential was enrolled, as reported by its browser.'),
  fields: (t) =>
    Object.fromEntries(
      DEVICE_FIELDS.map((name) => {
        const options = { nullable: true as const, description: getShapeDescription(DeviceShape.shape[name]) }
        if (name === 'mobile') return [name, t.exposeBoolean(name, options)]
        if (name === 'lastSeenAt') return [name, t.expose(name, { ...options, type: 'DateTime' })]
        return [name, t.exposeString(name, options)]
      }),
    ),
})

const DEVICE_COLUMNS = Object.fromEntries(DEVICE_FIELDS.map((field) => [toDeviceColumn(field), true]))

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
    type: t.field({
      type: CredentialTypeEnum,
      description: getShapeDescription(CredentialShape.shape.type),
      select: { type: true },
      resolve: ({ type }) => type as CredentialType,
    }),
    name: t.string({
      nullable: true,
      description: getShapeDescription(CredentialShape.shape.name),
      select: { aaguid: true },
      resolve: ({ aaguid }) => findAuthenticatorName(aaguid),
    }),
    publicKey: t.exposeString('publicKey', {
      nullable: true,
      description: getShapeDescription(CredentialShape.shape.publicKey),
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: getShapeDescription(CredentialShape.shape.lastUsedAt),
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: getShapeDescription(CredentialShape.shape.createdAt),
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

builder.queryField('credential', (t) =>
  t.field({
    ...withScope('credentials:read', 'One credential; null when there is none with this id.'),
    type: CredentialRef,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the credential.' }) },
    resolve: (_root, { id }, { ctx }) =>
      nullIfNotFound(getCredential(ctx, requireNodeId('cred', id)) as Promise<Credential>),
  }),
)
