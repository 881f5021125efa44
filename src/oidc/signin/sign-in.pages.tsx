import type { VNode } from 'preact'
import { BidiText, type PageClient, PageShell } from '../../pages/page-shell.pages.tsx'
import { StepButton } from '../../pages/parts/controls.pages.tsx'
import type { PagePart } from '../../pages/parts/page-part.pages.tsx'
import { Hint, Message, Paragraph } from '../../pages/parts/words.pages.tsx'
import type { ConfirmationReason, FactorAddition } from './step/confirmation.ts'
import type { StepPageProps } from './step/step-page.pages.tsx'
import { CancelForm, createMethodsLink } from './step/step-page.pages.tsx'

const ADDITION_TEXTS = { factor: 'confirm.addFactor', passkey: 'passkey.createFirst' } as const

type SignInPageProps = StepPageProps & {
  /** The last input was rejected. */
  isError?: boolean
  /** The application asked for a new account (prompt=create). */
  isCreation?: boolean
  /** Why a signed-in user signs in again, and who. */
  confirmation?: { reason: ConfirmationReason; label: string } | null
  /** What the user may have to add first. */
  addition?: FactorAddition | null
  /** The parts of the sign-in methods, in their order. */
  entries: PagePart[]
  /** The browser has accounts to choose from. */
  offersAccounts?: boolean
}

/**
 * The first page of a sign-in: offers every method. Posts the forms of the methods, `step=choose` or `step=cancel`.
 */
export const SignInPage = ({
  tenant,
  client,
  interaction,
  isError,
  isCreation,
  confirmation,
  addition,
  entries,
  offersAccounts,
}: SignInPageProps): VNode => (
  <PageShell
    title={
      <Message of={isCreation ? 'signIn.createTitle' : confirmation ? 'confirm.title' : 'signIn.title'} />
    }
    lead={
      confirmation ? (
        <Message
          of={`confirm.${confirmation.reason}`}
          client={<BidiText>{client.name}</BidiText>}
          label={<BidiText>{confirmation.label}</BidiText>}
        />
      ) : (
        <Message of="signIn.toContinueTo" client={<BidiText>{client.name}</BidiText>} />
      )
    }
    tenant={tenant}
    client={client}
    isError={isError}
  >
    {addition && <Hint of={ADDITION_TEXTS[addition]} link={createMethodsLink(tenant)} />}
    {entries}
    <div class="alternatives">
      {offersAccounts && <StepButton interaction={interaction} step="choose" of="select.back" look="quiet" />}
      <CancelForm interaction={interaction} />
    </div>
  </PageShell>
)

/** Says that the sign-in was weaker than the client demands. */
export const StrongerSignInNote = ({ client }: { client: PageClient }): VNode => (
  <div class="pending" role="status">
    <Paragraph of="signIn.stronger" client={<BidiText>{client.name}</BidiText>} />
  </div>
)
