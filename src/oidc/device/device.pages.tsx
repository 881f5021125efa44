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
import { SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { createEndPage } from '../../pages/parts/outcome.pages.tsx'
import { PasskeySignal } from '../../pages/parts/passkey-signal.pages.tsx'
import { SignedInAs } from '../../pages/parts/person.pages.tsx'
import { Hint, Message, Paragraph } from '../../pages/parts/words.pages.tsx'
import {
  ConsentButtons,
  ConsentItems,
  type ConsentPageProps,
  ForOrganization,
  PublisherNote,
  RevocationHint,
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
    title={<Message of="device.title" />}
    lead={<Message of="device.lead" tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />}
    tenant={tenant}
    isError={Boolean(error)}
  >
    <StepForm interaction={interaction} class="stack">
      <div class="field">
        <label for="user_code">
          <Message of="device.label" />
        </label>
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
          <Message of="device.hint" example={<bdi>BCDF-GHJK</bdi>} />
        </p>
      </div>
      <SubmitButton of="action.continue" />
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
  apis = [],
  organization,
  userCode,
  accepted,
}: ConsentPageProps & { userCode: string }): VNode => (
  <PageShell
    title={<Message of="device.connect" client={client.name} />}
    heading={<Message of="device.connect" client={<BidiText>{client.name}</BidiText>} />}
    lead={
      <Message
        of="device.connectLead"
        client={<BidiText>{client.name}</BidiText>}
        tenant={<BidiText>{getTenantName(tenant)}</BidiText>}
      />
    }
    tenant={tenant}
    client={client}
  >
    <PublisherNote client={client} />
    <SignedInAs interaction={interaction} person={person} />
    <ForOrganization organization={organization} />
    <section class="field">
      <h2>
        <Message of="device.shows" />
      </h2>
      <p class="user-code" dir="ltr">
        {userCode}
      </p>
      <Hint of="device.warning" />
    </section>
    {consentItems.length + apis.length > 0 ? (
      <ConsentItems consentItems={consentItems} apis={apis} />
    ) : (
      <Paragraph of="device.asksNothing" />
    )}
    <ConsentButtons interaction={interaction} />
    <RevocationHint tenant={tenant} />
    <PasskeySignal accepted={accepted} />
  </PageShell>
)

/** Shown after the user has approved a device. */
export const DeviceApprovedPage = createEndPage('good', {
  title: 'device.approvedTitle',
  lead: 'device.approvedLead',
})

/** Shown after the user has denied a device. */
export const DeviceDeniedPage = createEndPage('neutral', {
  title: 'device.deniedTitle',
  lead: 'device.deniedLead',
})
