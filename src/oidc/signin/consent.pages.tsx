import type { VNode } from 'preact'
import {
  BidiText,
  getTenantName,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../pages/page-shell.pages.tsx'
import { type PagePerson, PersonLine } from '../../pages/person.pages.tsx'

export type ConsentPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  person: PagePerson
  /** What the client requests, in plain words, each once. */
  consentItems: readonly { words: string }[]
  /** Where the answer goes, if not to the host that publishes the client. */
  destination?: { place: string; isOnDevice: boolean } | null
}

/** The signed-in user, with a way to switch. Posts `step=switch`. */
export const SignedInAs = ({
  interaction,
  person,
}: Pick<ConsentPageProps, 'interaction' | 'person'>): VNode => (
  <div class="signed-in">
    <PersonLine person={person} />
    <StepForm interaction={interaction} step="switch">
      <button type="submit" class="quiet">
        Not you?
      </button>
    </StepForm>
  </div>
)

/**
 * The publisher of a client that is registered by its own document: the name is not verified, the host is.
 */
export const PublisherNote = ({ client }: Pick<ConsentPageProps, 'client'>): VNode | null =>
  client.registeredBy === 'document' && client.id ? (
    <p>
      It is published by{' '}
      <strong>
        <BidiText>{new URL(client.id).host}</BidiText>
      </strong>
      . It has not been reviewed. Continue only if you trust that site.
    </p>
  ) : null

/** The other address that receives the answer: the host that publishes the client does not vouch for it. */
export const DestinationNote = ({ destination }: Pick<ConsentPageProps, 'destination'>): VNode | null =>
  destination ? (
    <p>
      {destination.isOnDevice
        ? 'You continue in an application on this device: '
        : 'You continue at another site: '}
      <strong>
        <BidiText>{destination.place}</BidiText>
      </strong>
      .
    </p>
  ) : null

/** What the client requests, in plain words. */
export const ConsentItems = ({ consentItems }: Pick<ConsentPageProps, 'consentItems'>): VNode => (
  <section>
    <h2 id="asks">It will be able to:</h2>
    {/* biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list. */}
    <ul class="asks" role="list" aria-labelledby="asks">
      {consentItems.map((item) => (
        <li key={item.words}>
          <BidiText>{item.words}</BidiText>
        </li>
      ))}
    </ul>
  </section>
)

/** Posts `step=allow` or `step=deny`. */
export const ConsentButtons = ({ interaction }: Pick<ConsentPageProps, 'interaction'>): VNode => (
  <StepForm interaction={interaction} class="choice">
    <button type="submit" name="step" value="allow" class="primary">
      Allow
    </button>
    <button type="submit" name="step" value="deny" class="secondary">
      Deny
    </button>
  </StepForm>
)

/** Asks for the user's consent. Posts `step=allow`, `step=deny` or `step=switch`. */
export const ConsentPage = ({
  tenant,
  client,
  interaction,
  person,
  consentItems,
  destination,
}: ConsentPageProps): VNode => (
  <PageShell
    title={`Allow ${client.name}?`}
    heading={
      <>
        Allow <BidiText>{client.name}</BidiText>?
      </>
    }
    lead={
      <>
        <BidiText>{client.name}</BidiText> would like to use your <BidiText>{getTenantName(tenant)}</BidiText>{' '}
        account.
      </>
    }
    tenant={tenant}
    client={client}
  >
    <PublisherNote client={client} />
    <DestinationNote destination={destination} />
    <SignedInAs interaction={interaction} person={person} />
    <ConsentItems consentItems={consentItems} />
    <ConsentButtons interaction={interaction} />
    <p class="hint">If you deny, you go back without sharing anything.</p>
  </PageShell>
)
