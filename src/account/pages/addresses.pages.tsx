import type { VNode } from 'preact'
import { BidiText, type PageInteraction, StepForm } from '../../pages/page-shell.pages.tsx'
import { CodeForm } from '../../pages/parts/code-form.pages.tsx'
import { PlainList, StepButton, SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { Message, Paragraph } from '../../pages/parts/words.pages.tsx'
import { AccountItem, type AccountPageProps, AccountShell } from './account-shell.pages.tsx'

/** An address of the user, and the change of it that waits for its code. */
export type ShownAddress = {
  kind: 'email' | 'phone'
  /** As it was entered; null when the user has none. */
  address: string | null
  isVerified: boolean
  /** The new address, to which a code was sent. */
  pending: string | null
  canRemove: boolean
}

type AddressesPageProps = AccountPageProps & { addresses: readonly ShownAddress[] }

const KINDS = {
  email: {
    title: 'addresses.email',
    label: 'addresses.newEmail',
    type: 'email',
    autocomplete: 'email',
  },
  phone: {
    title: 'address.phone',
    label: 'addresses.newPhone',
    type: 'tel',
    autocomplete: 'tel',
  },
} as const

const PendingChange = ({ form, kind, pending }: ShownAddress & { form: PageInteraction }): VNode => (
  <div class="pending">
    <Paragraph of="addresses.pending" address={<BidiText>{pending}</BidiText>} />
    <CodeForm
      interaction={form}
      step={`confirm-${kind}`}
      hidden={{ address: pending ?? '' }}
      label={<Message of="addresses.code" />}
      autofocus={false}
      submit={<Message of="addresses.confirm" />}
    />
  </div>
)

const Address = ({ form, ...shown }: ShownAddress & { form: PageInteraction }): VNode => {
  const { kind, address, isVerified, pending, canRemove } = shown
  const { title, label, type, autocomplete } = KINDS[kind]
  return (
    <AccountItem
      heading={<Message of={title} />}
      tag={address && <Message of={isVerified ? 'addresses.confirmed' : 'addresses.notConfirmed'} />}
    >
      <p>
        {address ? (
          <BidiText>{address}</BidiText>
        ) : (
          <span class="hint">
            <Message of="addresses.none" />
          </span>
        )}
      </p>
      {pending && <PendingChange form={form} {...shown} />}
      <StepForm interaction={form} step={`change-${kind}`} class="stack">
        <div class="field">
          <label for={`new-${kind}`}>
            <Message of={label} />
          </label>
          <input
            id={`new-${kind}`}
            name="address"
            type={type as 'text'}
            autocomplete={autocomplete}
            dir="ltr"
            required
          />
        </div>
        <SubmitButton of="addresses.send" look="secondary" />
      </StepForm>
      {canRemove && (
        <StepButton
          interaction={form}
          step={`remove-${kind}`}
          of="methods.remove"
          look="quiet"
          fields={{ address: address ?? '' }}
        />
      )}
    </AccountItem>
  )
}

/**
 * Lists the addresses of the user. Posts `step=change-email` or `change-phone` with `address`, `confirm-email` or
 * `confirm-phone` with `address` and `code`, or `remove-phone` with `address`.
 */
export const AddressesPage = ({ form, addresses, ...shell }: AddressesPageProps): VNode => (
  <AccountShell {...shell} title="account.addresses" lead={<Message of="addresses.lead" />}>
    <PlainList class="messages">
      {addresses.map((address) => (
        <Address key={address.kind} form={form} {...address} />
      ))}
    </PlainList>
  </AccountShell>
)
