import type { VNode } from 'preact'
import {
  Fault,
  Given,
  nameOf,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../pages/page-shell.pages.tsx'
import { AllowOrDeny, AskedPerson, Asks, type ConsentPageProps, Publisher } from '../signin/consent.pages.tsx'

type UserCodePageProps = {
  tenant: PageTenant
  interaction: PageInteraction
  /** What was entered before, or stood in the address that the device showed. */
  code?: string | null
  /** What is wrong, as a sentence. */
  fault?: string | null
}

/** Asks for the code that a device shows (RFC 8628, section 3.3). Posts `user_code`. */
export const UserCodePage = ({ tenant, interaction, code, fault }: UserCodePageProps): VNode => (
  <PageShell
    title="Connect a device"
    lead={
      <>
        to your <Given>{nameOf(tenant)}</Given> account
      </>
    }
    tenant={tenant}
    faulty={Boolean(fault)}
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
          // The page's only question; whoever comes here came to answer it.
          autofocus
          value={code ?? ''}
          aria-invalid={fault ? 'true' : undefined}
          aria-describedby={fault ? 'code-fault code-hint' : 'code-hint'}
        />
        {fault && <Fault id="code-fault">{fault}</Fault>}
        <p class="hint" id="code-hint">
          Eight letters, such as BCDF-GHJK. Go on only if they are on a device in front of you: never with a
          code that somebody sent you.
        </p>
      </div>
      <button type="submit" class="primary">
        Continue
      </button>
    </StepForm>
  </PageShell>
)

/** Asks whether the device may have what it asks for. Posts `step=allow`, `step=deny` or `step=switch` (not you). */
export const DeviceConsentPage = ({
  tenant,
  client,
  interaction,
  person,
  asks,
  userCode,
}: ConsentPageProps & { userCode: string }): VNode => (
  <PageShell
    title={`Connect ${client.name}?`}
    heading={
      <>
        Connect <Given>{client.name}</Given>?
      </>
    }
    lead={
      <>
        <Given>{client.name}</Given> on a device would like to use your <Given>{nameOf(tenant)}</Given>{' '}
        account.
      </>
    }
    tenant={tenant}
    client={client}
  >
    <Publisher client={client} />
    <AskedPerson interaction={interaction} person={person} />
    <section class="field">
      <h2>The device shows this code:</h2>
      <p class="user-code">{userCode}</p>
      <p class="hint">
        If you do not see it on a device of yours, somebody may be after your account: choose Deny.
      </p>
    </section>
    {asks.length > 0 ? <Asks asks={asks} /> : <p>It asks for nothing that your account could give.</p>}
    <AllowOrDeny interaction={interaction} />
  </PageShell>
)

/** Says that the person has done their part. */
export const DeviceApprovedPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title="Your device is connected"
    lead="You can go back to your device, which goes on by itself in a few seconds. You can close this page."
    tenant={tenant}
    outcome="good"
  >
    {null}
  </PageShell>
)

/** Says that the device gets nothing. */
export const DeviceDeniedPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title="Your device is not connected"
    lead="Nothing was shared. You can go back to your device, and close this page."
    tenant={tenant}
  >
    {null}
  </PageShell>
)
