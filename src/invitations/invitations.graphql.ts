import { Conflict, InvalidInput, NotFound, RateLimited } from '../core/errors.ts'
import type { Role } from '../core/scopes.ts'
import { builder } from '../graphql/builder.ts'
import { connectionField, defineConnectionType, PAGE_ARGS } from '../graphql/connection.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { nullIfNotFound, requireNodeId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { RoleEnum } from '../graphql/roles.graphql.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { listInvitations } from './invitation-list.ts'
import {
  INVITATION_STATUSES,
  InvitationCreate,
  InvitationResend,
  type InvitationStatus,
} from './invitations.fields.ts'
import {
  createInvitation,
  getInvitation,
  type Invitation,
  resendInvitation,
  revokeInvitation,
} from './invitations.ts'

const describeField = (field: string) => findDescription('Invitation', field)
const describeInputField = (field: keyof typeof InvitationCreate.shape) =>
  InvitationCreate.shape[field].meta()?.description ?? describeField(field)

const STATUS_DESCRIPTIONS: Record<InvitationStatus, string> = {
  pending: 'The link works.',
  accepted: 'The person has accepted.',
  revoked: 'An administrator has revoked it.',
  expired: 'The link has expired; it can be sent again.',
}

const StatusEnum = builder.enumType('InvitationStatus', {
  description: 'The status of an invitation.',
  values: Object.fromEntries(
    INVITATION_STATUSES.map((status) => [
      status.toUpperCase(),
      { value: status, description: STATUS_DESCRIPTIONS[status] },
    ]),
  ) as Record<Uppercase<InvitationStatus>, { value: InvitationStatus; description: string }>,
})

const InvitationRef = builder.objectRef<Invitation>('Invitation').implement({
  ...withScope('users:read', 'Invites a person, who accepts by a link in a mail.'),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id of the invitation.' }),
    email: t.exposeString('email', { description: describeField('email') }),
    name: t.exposeString('name', { nullable: true, description: describeField('name') }),
    note: t.exposeString('note', { nullable: true, description: describeField('note') }),
    roles: t.field({
      type: [RoleEnum],
      description: describeField('roles'),
      resolve: ({ roles }) => roles as Role[],
    }),
    locale: t.exposeString('locale', { nullable: true, description: describeField('locale') }),
    clientId: t.exposeID('clientId', { nullable: true, description: describeField('clientId') }),
    status: t.expose('status', { type: StatusEnum, description: 'Pending, accepted, revoked or expired.' }),
    userId: t.exposeID('userId', { nullable: true, description: describeField('userId') }),
    sentAt: t.expose('sentAt', { type: 'DateTime', description: 'When the last message was sent.' }),
    acceptedAt: t.expose('acceptedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the person accepted.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the link expires.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person was invited.' }),
  }),
})

builder.queryField('invitation', (t) =>
  t.field({
    ...withScope('users:read', 'An invitation; null when there is none with this id.'),
    type: InvitationRef,
    nullable: true,
    args: { id: t.arg.id({ required: true, description: 'Id of the invitation.' }) },
    resolve: (_root, { id }, { ctx }) => nullIfNotFound(getInvitation(ctx, requireNodeId('invitation', id))),
  }),
)

const InvitationConnection = defineConnectionType('Invitation', InvitationRef)

builder.queryField('invitations', (t) =>
  t.field({
    ...withScope('users:read', 'The invitations of the tenant, oldest first.'),
    ...connectionField(InvitationConnection),
    args: PAGE_ARGS,
    resolve: (_root, args, { ctx }) => listInvitations(ctx, args),
  }),
)

const InvitationPayload = builder.objectRef<{ invitation: Invitation }>('InvitationPayload').implement({
  ...withPublicAccess('The invitation after the change.'),
  fields: (t) => ({
    // Nullable, so that callers with only users:write get a payload.
    invitation: t.field({
      type: InvitationRef,
      nullable: true,
      description: 'The invitation; null, with an error, for callers without users:read.',
      resolve: ({ invitation }) => invitation,
    }),
  }),
})

const CreateInvitationInput = builder.inputType('CreateInvitationInput', {
  description: 'A person to invite.',
  fields: (t) => ({
    email: t.string({ required: true, description: describeInputField('email') }),
    name: t.string({ description: describeInputField('name') }),
    note: t.string({ description: describeInputField('note') }),
    roles: t.field({ type: [RoleEnum], description: describeInputField('roles') }),
    locale: t.string({ description: describeInputField('locale') }),
    clientId: t.id({ description: describeInputField('clientId') }),
    expiresInSeconds: t.int({ description: describeInputField('expiresInSeconds') }),
  }),
})

builder.mutationField('createInvitation', (t) =>
  t.field({
    ...markCreation(
      withScope(
        'users:write',
        'Invites a person by a mail with a link. Callers can only give scopes that they have.',
      ),
    ),
    ...toResultOptions(InvalidInput, NotFound, RateLimited),
    type: InvitationPayload,
    args: { input: t.arg({ type: CreateInvitationInput, required: true, description: 'The person.' }) },
    resolve: async (_root, { input }, { ctx }) => ({ invitation: await createInvitation(ctx, input) }),
  }),
)

const ResendInvitationInput = builder.inputType('ResendInvitationInput', {
  description: 'Input of resendInvitation.',
  fields: (t) => ({
    invitationId: t.id({ required: true, description: 'Id of the invitation.' }),
    expiresInSeconds: t.int({ description: InvitationResend.shape.expiresInSeconds.meta()?.description }),
  }),
})

builder.mutationField('resendInvitation', (t) =>
  t.field({
    ...withScope('users:write', 'Sends another mail, whose link replaces the former one.'),
    ...toResultOptions(InvalidInput, NotFound, Conflict, RateLimited),
    type: InvitationPayload,
    args: { input: t.arg({ type: ResendInvitationInput, required: true, description: 'The invitation.' }) },
    resolve: async (_root, { input: { invitationId, ...input } }, { ctx }) => ({
      invitation: await resendInvitation(
        ctx,
        requireNodeId('invitation', invitationId, 'invitationId'),
        input,
      ),
    }),
  }),
)

const RevokeInvitationInput = builder.inputType('RevokeInvitationInput', {
  description: 'Input of revokeInvitation.',
  fields: (t) => ({ invitationId: t.id({ required: true, description: 'Id of the invitation.' }) }),
})

const RevokeInvitationPayload = builder
  .objectRef<{ revokedInvitationId: string }>('RevokeInvitationPayload')
  .implement({
    ...withPublicAccess('The invitation is revoked.'),
    fields: (t) => ({
      revokedInvitationId: t.exposeID('revokedInvitationId', { description: 'Id of the invitation.' }),
    }),
  })

builder.mutationField('revokeInvitation', (t) =>
  t.field({
    ...withScope('users:write', 'Revokes an invitation: its link no longer works.'),
    ...toResultOptions(InvalidInput, NotFound, Conflict),
    type: RevokeInvitationPayload,
    args: { input: t.arg({ type: RevokeInvitationInput, required: true, description: 'The invitation.' }) },
    resolve: (_root, { input: { invitationId } }, { ctx }) =>
      revokeInvitation(ctx, requireNodeId('invitation', invitationId, 'invitationId')),
  }),
)
