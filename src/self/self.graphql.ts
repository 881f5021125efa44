import { Conflict, InvalidCredential, InvalidInput, RateLimited } from '../errors.ts'
import { EXPECTED_UPDATED_AT } from '../expected-updated-at.ts'
import type { User } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { UserRef } from '../graphql/refs.ts'
import { resultOf } from '../graphql/result.ts'
import { open, ownAccount } from '../graphql/scoped.ts'
import { userFieldsInput } from '../users/user-mutations.graphql.ts'
import { confirmEmailChange, confirmPhoneNumberChange } from './confirm-address-change.ts'
import { RECENT_SIGN_IN } from './own-access.ts'
import { updateViewer } from './own-profile.ts'
import { removeViewerPhoneNumber } from './remove-phone-number.ts'
import { requestEmailChange, requestPhoneNumberChange } from './request-address-change.ts'
import { OWN_FIELDS } from './self.fields.ts'

const ViewerPayload = builder.objectRef<{ user: User }>('ViewerPayload').implement({
  ...open('The person who calls, as they are now.'),
  fields: (t) => ({
    user: t.field({ type: UserRef, description: 'The person.', resolve: ({ user }) => user }),
  }),
})

const ViewerFieldsInput = userFieldsInput('ViewerFieldsInput', OWN_FIELDS)

const UpdateViewerInput = builder.inputType('UpdateViewerInput', {
  description: 'Input of updateViewer.',
  fields: (t) => ({
    expectedUpdatedAt: t.field({ type: 'DateTime', description: EXPECTED_UPDATED_AT }),
    fields: t.field({ type: ViewerFieldsInput, required: true, description: 'What is changed.' }),
  }),
})

builder.mutationField('updateViewer', (t) =>
  t.field({
    ...ownAccount('Changes my profile. Addresses are changed by proving them: requestEmailChange.'),
    ...resultOf(InvalidInput, Conflict),
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
    ...open('A code is on its way, unless somebody else has the address: that is not told.'),
    fields: (t) => ({ sentTo: t.exposeString('sentTo', { description: 'The address that was asked for.' }) }),
  })

const RequestEmailChangeInput = builder.inputType('RequestEmailChangeInput', {
  description: 'Input of requestEmailChange.',
  fields: (t) => ({ email: t.string({ required: true, description: 'The new e-mail address.' }) }),
})

builder.mutationField('requestEmailChange', (t) =>
  t.field({
    ...ownAccount(
      `Sends a code to the e-mail address that is to be mine; confirmEmailChange takes it, within 10 minutes and in the same session. ${RECENT_SIGN_IN}`,
    ),
    ...resultOf(InvalidInput, RateLimited),
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
    ...ownAccount(
      `Sends a code to the phone number that is to be mine; confirmPhoneNumberChange takes it, within 10 minutes and in the same session. ${RECENT_SIGN_IN}`,
    ),
    ...resultOf(InvalidInput, RateLimited),
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
    ...ownAccount('Makes an e-mail address mine, as proven, by the code that was sent to it.'),
    ...resultOf(...CONFIRM_ERRORS),
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
    ...ownAccount('Makes a phone number mine, as proven, by the code that was sent to it.'),
    ...resultOf(...CONFIRM_ERRORS),
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
    phoneNumber: t.string({ required: true, description: 'My phone number, so that no other is meant.' }),
  }),
})

builder.mutationField('removeViewerPhoneNumber', (t) =>
  t.field({
    ...ownAccount(`Takes my phone number away; a proven e-mail address must stay. ${RECENT_SIGN_IN}`),
    ...resultOf(InvalidInput),
    type: ViewerPayload,
    args: {
      input: t.arg({ type: RemoveViewerPhoneNumberInput, required: true, description: 'The number.' }),
    },
    resolve: async (_root, { input }, { ctx }) => ({ user: await removeViewerPhoneNumber(ctx, input) }),
  }),
)
