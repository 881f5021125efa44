import { Conflict, InvalidCredential, InvalidInput, RateLimited } from '../core/errors.ts'
import type { User } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope, withPublicAccess } from '../graphql/field-access.ts'
import { UserRef } from '../graphql/object-refs.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { EXPECTED_UPDATED_AT_DESCRIPTION } from '../schema/expected-updated-at.ts'
import { defineUserFieldsInput } from '../users/user-mutations.graphql.ts'
import { ACCOUNT_FIELDS } from './account.fields.ts'
import { confirmEmailChange, confirmPhoneNumberChange } from './confirm-address-change.ts'
import { removeViewerPhoneNumber } from './phone-number-removal.ts'
import { updateViewer } from './profile.ts'
import { requestEmailChange, requestPhoneNumberChange } from './request-address-change.ts'
import { STEP_UP_DESCRIPTION } from './step-up.ts'

const ViewerPayload = builder.objectRef<{ user: User }>('ViewerPayload').implement({
  ...withPublicAccess('The calling user after the change.'),
  fields: (t) => ({
    user: t.field({ type: UserRef, description: 'The user.', resolve: ({ user }) => user }),
  }),
})

const ViewerFieldsInput = defineUserFieldsInput('ViewerFieldsInput', ACCOUNT_FIELDS)

const UpdateViewerInput = builder.inputType('UpdateViewerInput', {
  description: 'Input of updateViewer.',
  fields: (t) => ({
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT_DESCRIPTION }),
    fields: t.field({ type: ViewerFieldsInput, required: true, description: 'The fields to change.' }),
  }),
})

builder.mutationField('updateViewer', (t) =>
  t.field({
    ...withAccountScope(
      'Changes the profile of the calling user. userMetadata has 8 KB at most. Addresses change by verification: see requestEmailChange.',
    ),
    ...toResultOptions(InvalidInput, Conflict),
    type: ViewerPayload,
    args: { input: t.arg({ type: UpdateViewerInput, required: true, description: 'The change.' }) },
    resolve: async (_root, { input: { expectedUpdatedAt, fields } }, { ctx }) => ({
      user: await updateViewer(ctx, { ...fields, expectedUpdatedAt }),
    }),
  }),
)

const RequestAddressChangePayload = builder
  .objectRef<{ sentTo: string }>('RequestAddressChangePayload')
  .implement({
    ...withPublicAccess(
      'A code was sent, unless the address belongs to another user, which the response does not reveal.',
    ),
    fields: (t) => ({ sentTo: t.exposeString('sentTo', { description: 'The requested address.' }) }),
  })

const RequestEmailChangeInput = builder.inputType('RequestEmailChangeInput', {
  description: 'Input of requestEmailChange.',
  fields: (t) => ({ email: t.string({ required: true, description: 'The new e-mail address.' }) }),
})

builder.mutationField('requestEmailChange', (t) =>
  t.field({
    ...withAccountScope(
      `Sends a code to the new e-mail address of the calling user; confirmEmailChange accepts it within 10 minutes, in the same session. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput, RateLimited),
    type: RequestAddressChangePayload,
    args: { input: t.arg({ type: RequestEmailChangeInput, required: true, description: 'The address.' }) },
    resolve: (_root, { input }, { ctx }) => requestEmailChange(ctx, input),
  }),
)

const RequestPhoneNumberChangeInput = builder.inputType('RequestPhoneNumberChangeInput', {
  description: 'Input of requestPhoneNumberChange.',
  fields: (t) => ({
    phoneNumber: t.string({ required: true, description: 'The new phone number, with its country code.' }),
  }),
})

builder.mutationField('requestPhoneNumberChange', (t) =>
  t.field({
    ...withAccountScope(
      `Sends a code to the new phone number of the calling user; confirmPhoneNumberChange accepts it within 10 minutes, in the same session. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput, RateLimited),
    type: RequestAddressChangePayload,
    args: {
      input: t.arg({ type: RequestPhoneNumberChangeInput, required: true, description: 'The number.' }),
    },
    resolve: (_root, { input }, { ctx }) => requestPhoneNumberChange(ctx, input),
  }),
)

const CONFIRM_ERRORS = [InvalidInput, InvalidCredential, Conflict, RateLimited] as const

const ConfirmEmailChangeInput = builder.inputType('ConfirmEmailChangeInput', {
  description: 'Input of confirmEmailChange.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The new e-mail address.' }),
    code: t.string({ required: true, description: 'The code that was sent to it.' }),
  }),
})

builder.mutationField('confirmEmailChange', (t) =>
  t.field({
    ...withAccountScope(
      'Sets the verified e-mail address of the calling user, by the code that was sent to it.',
    ),
    ...toResultOptions(...CONFIRM_ERRORS),
    type: ViewerPayload,
    args: { input: t.arg({ type: ConfirmEmailChangeInput, required: true, description: 'The code.' }) },
    resolve: async (_root, { input }, { ctx }) => ({ user: await confirmEmailChange(ctx, input) }),
  }),
)

const ConfirmPhoneNumberChangeInput = builder.inputType('ConfirmPhoneNumberChangeInput', {
  description: 'Input of confirmPhoneNumberChange.',
  fields: (t) => ({
    phoneNumber: t.string({ required: true, description: 'The new phone number.' }),
    code: t.string({ required: true, description: 'The code that was sent to it.' }),
  }),
})

builder.mutationField('confirmPhoneNumberChange', (t) =>
  t.field({
    ...withAccountScope(
      'Sets the verified phone number of the calling user, by the code that was sent to it.',
    ),
    ...toResultOptions(...CONFIRM_ERRORS),
    type: ViewerPayload,
    args: {
      input: t.arg({ type: ConfirmPhoneNumberChangeInput, required: true, description: 'The code.' }),
    },
    resolve: async (_root, { input }, { ctx }) => ({ user: await confirmPhoneNumberChange(ctx, input) }),
  }),
)

const RemoveViewerPhoneNumberInput = builder.inputType('RemoveViewerPhoneNumberInput', {
  description: 'Input of removeViewerPhoneNumber.',
  fields: (t) => ({
    phoneNumber: t.string({ required: true, description: 'The current phone number, as a confirmation.' }),
  }),
})

builder.mutationField('removeViewerPhoneNumber', (t) =>
  t.field({
    ...withAccountScope(
      `Removes the phone number of the calling user, who must have a verified e-mail address. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput),
    type: ViewerPayload,
    args: {
      input: t.arg({ type: RemoveViewerPhoneNumberInput, required: true, description: 'The number.' }),
    },
    resolve: async (_root, { input }, { ctx }) => ({ user: await removeViewerPhoneNumber(ctx, input) }),
  }),
)
