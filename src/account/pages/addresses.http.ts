import { confirmEmailChange, confirmPhoneNumberChange } from '../confirm-address-change.ts'
import { removeViewerPhoneNumber } from '../phone-number-removal.ts'
import {
  findPendingChanges,
  requestEmailChange,
  requestPhoneNumberChange,
} from '../request-address-change.ts'
import { type AccountPage, type AccountVisit, renderVisit } from './account-page.http.ts'
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
  labels: { email: 'label.email', phoneNumber: 'label.phone', code: 'label.code' },
  show: async (visit, problem) =>
    renderVisit(visit, problem, AddressesPage, { addresses: await listShownAddresses(visit) }),
  forms: {
    'change-email': ['requested', ({ ctx }, { address = '' }) => requestEmailChange(ctx, { email: address })],
    'change-phone': [
      'requested',
      ({ ctx }, { address = '' }) => requestPhoneNumberChange(ctx, { phoneNumber: address }),
    ],
    'confirm-email': [
      'changed',
      ({ ctx }, { address = '', code = '' }) => confirmEmailChange(ctx, { email: address, code }),
    ],
    'confirm-phone': [
      'changed',
      ({ ctx }, { address = '', code = '' }) => confirmPhoneNumberChange(ctx, { phoneNumber: address, code }),
    ],
    'remove-phone': [
      'phoneRemoved',
      ({ ctx }, { address = '' }) => removeViewerPhoneNumber(ctx, { phoneNumber: address }),
    ],
  },
}
