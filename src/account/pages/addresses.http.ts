import { renderComponent } from '../../pages/responses.http.ts'
import { findPendingChanges } from '../address-changes.ts'
import { confirmEmailChange, confirmPhoneNumberChange } from '../confirm-address-change.ts'
import { removeViewerPhoneNumber } from '../phone-number-removal.ts'
import { requestEmailChange, requestPhoneNumberChange } from '../request-address-change.ts'
import type { AccountPage, AccountVisit } from './account-page.http.ts'
import { AddressesPage, type ShownAddress } from './addresses.pages.tsx'

/** A change that was confirmed is not pending. */
const selectPending = (pending: string | undefined, current: string | null): string | null =>
  pending !== undefined && pending !== current ? pending : null

async function listShownAddresses({ ctx, user }: AccountVisit): Promise<ShownAddress[]> {
  const pending = await findPendingChanges(ctx)
  return [
    {
      kind: 'email',
      address: user.email,
      isVerified: user.emailVerified,
      pending: selectPending(pending.email, user.email),
      canRemove: false,
    },
    {
      kind: 'phone',
      address: user.phoneNumber,
      isVerified: user.phoneNumberVerified,
      pending: selectPending(pending.sms, user.phoneNumber),
      canRemove: user.phoneNumber !== null && user.emailVerified,
    },
  ]
}

/** The addresses of the user, each of which changes by proof. */
export const ADDRESSES_PAGE: AccountPage = {
  path: '/addresses',
  notices: {
    requested: 'notice.requested',
    changed: 'notice.changed',
    removed: 'notice.phoneRemoved',
  },
  labels: { email: 'label.email', phoneNumber: 'label.phone', code: 'label.code' },
  show: async (visit, problem) =>
    renderComponent(
      visit.ctx,
      AddressesPage,
      {
        tenant: visit.call.tenant,
        form: visit.form,
        addresses: await listShownAddresses(visit),
        notice: visit.notice,
        messages: problem?.messages,
      },
      { status: problem?.status },
    ),
  forms: {
    'change-email': async ({ ctx }, { address = '' }) => {
      await requestEmailChange(ctx, { email: address })
      return { done: 'requested' }
    },
    'change-phone': async ({ ctx }, { address = '' }) => {
      await requestPhoneNumberChange(ctx, { phoneNumber: address })
      return { done: 'requested' }
    },
    'confirm-email': async ({ ctx }, { address = '', code = '' }) => {
      await confirmEmailChange(ctx, { email: address, code })
      return { done: 'changed' }
    },
    'confirm-phone': async ({ ctx }, { address = '', code = '' }) => {
      await confirmPhoneNumberChange(ctx, { phoneNumber: address, code })
      return { done: 'changed' }
    },
    'remove-phone': async ({ ctx }, { address = '' }) => {
      await removeViewerPhoneNumber(ctx, { phoneNumber: address })
      return { done: 'removed' }
    },
  },
}
