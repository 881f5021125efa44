import type { ComponentChildren, VNode } from 'preact'
import type { ConsentItem } from '../../consents/consent-items.ts'
import { BidiText, getTenantName, PageShell, StepForm } from '../../pages/page-shell.pages.tsx'
import { ApiItem } from '../../pages/parts/api-item.pages.tsx'
import { PlainList, StrongText, SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { type AcceptedPasskeys, PasskeySignal } from '../../pages/parts/passkey-signal.pages.tsx'
import { type PagePerson, SignedInAs } from '../../pages/parts/person.pages.tsx'
import { Message, Paragraph, Sentence } from '../../pages/parts/words.pages.tsx'
import type { Destination } from '../model/unreviewed-clients.ts'
import type { StepPageProps } from './step/step-page.pages.tsx'

export type ConsentPageProps = StepPageProps & {
  person: PagePerson
  /** What the client requests, in plain words, each once. */
  consentItems: readonly ConsentItem[]
  /** The names of other APIs that the client will use on behalf of the user, each once. */
  apis?: readonly string[]
  /** The name of the organization that the tokens are for; null for none. */
  organization?: string | null
  /** Where the answer goes; omitted for a device, which has it already. */
  destination?: Destination
  /** The passkeys of a user who has just signed in. */
  accepted?: AcceptedPasskeys | null
}

/**
 * The publisher of a client that is registered by its own document: the name is not verified, the host is. Of a client of
 * open registration, nothing is.
 */
export const PublisherNote = ({ client }: Pick<ConsentPageProps, 'client'>): VNode | null =>
  client.registeredBy === 'open-registration' ? (
    <Paragraph of="consent.selfRegistered" />
  ) : client.registeredBy === 'document' && client.id ? (
    <p>
      <Message of="consent.publisher" host={<StrongText>{new URL(client.id).host}</StrongText>} />
    </p>
  ) : null

/** The organization that the client gets tokens for. */
export const ForOrganization = ({ organization }: Pick<ConsentPageProps, 'organization'>): VNode | null =>
  organization ? (
    <p>
      <Message of="consent.organization" organization={<StrongText>{organization}</StrongText>} />
    </p>
  ) : null

/** The other address that receives the answer: the host that publishes the client does not vouch for it. */
const OtherDestination = ({ destination }: Pick<ConsentPageProps, 'destination'>): VNode | null =>
  destination?.isOther ? (
    <p>
      <Message
        of={destination.isOnDevice ? 'consent.onDevice' : 'consent.otherSite'}
        place={<StrongText>{destination.place}</StrongText>}
      />
    </p>
  ) : null

type ItemListProps = {
  id: string
  heading: ComponentChildren
  class: string
  items: readonly ConsentItem[]
  apis?: readonly string[]
}

const ItemList = ({ id, heading, class: className, items, apis = [] }: ItemListProps): VNode | null =>
  items.length + apis.length > 0 ? (
    <section>
      <h2 id={id}>{heading}</h2>
      <PlainList class={className} labelledBy={id}>
        {items.map(({ words }) => (
          <li key={words}>
            <BidiText>
              <Sentence>{words}</Sentence>
            </BidiText>
          </li>
        ))}
        {apis.map((api) => (
          <ApiItem key={api} api={api} />
        ))}
      </PlainList>
    </section>
  ) : null

/** What the client requests, in plain words; what is sensitive stands apart. */
export function ConsentItems({
  consentItems,
  apis = [],
}: Pick<ConsentPageProps, 'consentItems' | 'apis'>): VNode {
  const plain = consentItems.filter(({ isSensitive }) => !isSensitive)
  const sensitive = consentItems.filter(({ isSensitive }) => isSensitive)
  const hasPlain = plain.length + apis.length > 0
  if (!hasPlain && sensitive.length === 0) return <Paragraph of="consent.asksNothing" />
  return (
    <>
      <ItemList id="asks" heading={<Message of="consent.asks" />} class="asks" items={plain} apis={apis} />
      <ItemList
        id="sensitive-asks"
        heading={<Message of={hasPlain ? 'consent.sensitive' : 'consent.onlySensitive'} />}
        class="asks sensitive"
        items={sensitive}
      />
    </>
  )
}

/** Posts `step=allow` or `step=deny`. */
export const ConsentButtons = ({ interaction }: Pick<ConsentPageProps, 'interaction'>): VNode => (
  <StepForm interaction={interaction} class="choice">
    <SubmitButton name="step" value="allow" of="consent.allow" />
    <SubmitButton name="step" value="deny" of="consent.deny" look="secondary" />
  </StepForm>
)

/** The account page on which the user removes the access again. The request stays open in this tab. */
export const RevocationHint = ({ tenant }: Pick<ConsentPageProps, 'tenant'>): VNode => (
  <p class="hint">
    <Message
      of="consent.revocable"
      link={(parts) => (
        <a href={`/${tenant.tenantId}/account/apps`} target="_blank" rel="noopener">
          {parts}
        </a>
      )}
    />
  </p>
)

/** Asks for the user's consent. Posts `step=allow`, `step=deny` or `step=switch`. */
export const ConsentPage = ({
  tenant,
  client,
  interaction,
  person,
  consentItems,
  apis,
  organization,
  destination,
  accepted,
}: ConsentPageProps): VNode => (
  <PageShell
    title={<Message of="consent.title" client={client.name} />}
    heading={<Message of="consent.title" client={<BidiText>{client.name}</BidiText>} />}
    lead={
      <Message
        of="consent.lead"
        client={<BidiText>{client.name}</BidiText>}
        tenant={<BidiText>{getTenantName(tenant)}</BidiText>}
      />
    }
    tenant={tenant}
    client={client}
  >
    <PublisherNote client={client} />
    <OtherDestination destination={destination} />
    <SignedInAs interaction={interaction} person={person} />
    <ForOrganization organization={organization} />
    <ConsentItems consentItems={consentItems} apis={apis} />
    <ConsentButtons interaction={interaction} />
    <p class="hint">
      {destination && !destination.isOther && !destination.isOnDevice && (
        <>
          <Message of="consent.place" place={<BidiText>{destination.place}</BidiText>} />{' '}
        </>
      )}
      <Message of="consent.ifDenied" />
    </p>
    <RevocationHint tenant={tenant} />
    <PasskeySignal accepted={accepted} />
  </PageShell>
)
