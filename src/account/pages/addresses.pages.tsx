import type { VNode } from 'preact'
import { CodeForm } from '../../pages/code-form.pages.tsx'
import { BidiText, type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'

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

type AddressesPageProps = {
  tenant: PageTenant
  form: PageInteraction
  addresses: readonly ShownAddress[]
  notice?: string | null
  messages?: readonly string[]
}

const KINDS = {
  email: {
    title: 'E-mail address',
    label: 'New e-mail address',
    type: 'email',
    autocomplete: 'email',
  },
  phone: {
    title: 'Phone number',
    label: 'New phone number, with country code',
    type: 'tel',
    autocomplete: 'tel',
  },
} as const

const PendingChange = ({ form, kind, pending }: ShownAddress & { form: PageInteraction }): VNode => (
  <div class="pending">
    <p>
      Enter the code for <BidiText>{pending}</BidiText>. If the address is free, the code is on its way.
    </p>
    <CodeForm
      interaction={form}
      step={`confirm-${kind}`}
      hidden={{ address: pending ?? '' }}
      label="Code"
      autofocus={false}
      submit="Confirm"
    />
  </div>
)

const Address = ({ form, ...shown }: ShownAddress & { form: PageInteraction }): VNode => {
  const { kind, address, isVerified, pending, canRemove } = shown
  const { title, label, type, autocomplete } = KINDS[kind]
  return (
    <li class="message">
      <div class="row between">
        <h2>{title}</h2>
        {address && <span class="tag">{isVerified ? 'Confirmed' : 'Not confirmed'}</span>}
      </div>
      <p>{address ? <BidiText>{address}</BidiText> : <span class="hint">None</span>}</p>
      {pending && <PendingChange form={form} {...shown} />}
      <StepForm interaction={form} step={`change-${kind}`} class="stack">
        <div class="field">
          <label for={`new-${kind}`}>{label}</label>
          <input
            id={`new-${kind}`}
            name="address"
            type={type as 'text'}
            autocomplete={autocomplete}
            dir="ltr"
            required
          />
        </div>
        <button type="submit" class="secondary">
          Send a code to it
        </button>
      </StepForm>
      {canRemove && (
        <StepForm interaction={form} step={`remove-${kind}`}>
          <input type="hidden" name="address" value={address ?? ''} />
          <button type="submit" class="quiet">
            Remove
          </button>
        </StepForm>
      )}
    </li>
  )
}

/**
 * Lists the addresses of the user. Posts `step=change-email` or `change-phone` with `address`, `confirm-email` or
 * `confirm-phone` with `address` and `code`, or `remove-phone` with `address`.
 */
export const AddressesPage = ({ tenant, form, addresses, ...shell }: AddressesPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title="E-mail and phone"
    lead="We send your codes there. A new address counts once you have entered the code that we send to it."
    {...shell}
  >
    {/* biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list. */}
    <ul class="messages" role="list">
      {addresses.map((address) => (
        <Address key={address.kind} form={form} {...address} />
      ))}
    </ul>
  </AccountShell>
)
