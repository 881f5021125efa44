import type { VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../pages/page-shell.pages.tsx'
import { PasskeySignal } from '../../pages/passkey-signal.pages.tsx'
import { SignedInAs } from '../../pages/person.pages.tsx'
import {
  ConsentButtons,
  ConsentItems,
  type ConsentPageProps,
  PublisherNote,
} from '../signin/consent.pages.tsx'

type UserCodePageProps = {
  tenant: PageTenant
  interaction: PageInteraction
  /** The entered code, or the one in the verification URI. */
  code?: string | null
  /** The error, as a sentence. */
  error?: string | null
}

/** Asks for the code that a device shows (RFC 8628, section 3.3). Posts `user_code`. */
export const UserCodePage = ({ tenant, interaction, code, error }: UserCodePageProps): VNode => (
  <PageShell
    title="Connect a device"
    lead={
      <>
        to your <BidiText>{getTenantName(tenant)}</BidiText> account
      </>
    }
    tenant={tenant}
    isError={Boolean(error)}
  >
    <StepForm interaction={interaction} class="stack">
      <div class="field">
        <label for="user_code">Code on your device</label>
        <input
          id="user_code"
          name="user_code"
          class="code-input letters"
          type="text"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          dir="ltr"
          required
          // The only input of the page.
          autofocus
          value={code ?? ''}
          aria-invalid={error ? 'true' : undefined}
          aria-describedby={error ? 'code-error code-hint' : 'code-hint'}
        />
        {error && <ErrorMessage id="code-error">{error}</ErrorMessage>}
        <p class="hint" id="code-hint">
          Eight letters, such as BCDF-GHJK. Continue only if a device in front of you shows the code: never
          with a code that somebody sent you.
        </p>
      </div>
      <button type="submit" class="primary">
        Continue
      </button>
    </StepForm>
  </PageShell>
)

/** Asks for the user's consent for a device. Posts `step=allow`, `step=deny` or `step=switch`. */
export const DeviceConsentPage = ({
  tenant,
  client,
  interaction,
  person,
  consentItems,
  userCode,
  accepted,
}: ConsentPageProps & { userCode: string }): VNode => (
  <PageShell
    title={`Connect ${client.name}?`}
    heading={
      <>
        Connect <BidiText>{client.name}</BidiText>?
      </>
    }
    lead={
      <>
        <BidiText>{client.name}</BidiText> on a device would like to use your{' '}
        <BidiText>{getTenantName(tenant)}</BidiText> account.
      </>
    }
    tenant={tenant}
    client={client}
  >
    <PublisherNote client={client} />
    <SignedInAs interaction={interaction} person={person} />
    <section class="field">
      <h2>The device shows this code:</h2>
      <p class="user-code">{userCode}</p>
      <p class="hint">
        If you do not see it on your device, somebody may be trying to use your account: choose Deny.
      </p>
    </section>
    {consentItems.length > 0 ? (
      <ConsentItems consentItems={consentItems} />
    ) : (
      <p>It does not ask for anything from your account.</p>
    )}
    <ConsentButtons interaction={interaction} />
    <PasskeySignal accepted={accepted} />
  </PageShell>
)

/** Shown after the user has approved a device. */
export const DeviceApprovedPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title="Your device is connected"
    lead="You can go back to your device, which continues by itself in a few seconds. You can close this page."
    tenant={tenant}
    outcome="good"
  >
    {null}
  </PageShell>
)

/** Shown after the user has denied a device. */
export const DeviceDeniedPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title="Your device is not connected"
    lead="Nothing was shared. You can go back to your device, and close this page."
    tenant={tenant}
  >
    {null}
  </PageShell>
)
