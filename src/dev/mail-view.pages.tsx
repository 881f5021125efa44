import type { VNode } from 'preact'
import type { StoredMessage } from '../delivery/inbox.ts'
import { BidiText, PageShell } from '../pages/page-shell.pages.tsx'
import { MessageBody } from './inbox.pages.tsx'

/** A mail of the development inbox: its HTML in a frame that runs no script, and its text. */
export const MailPage = ({ mail: { id, subject, to, body } }: { mail: StoredMessage }): VNode => (
  <PageShell
    title="Mail"
    heading={<BidiText>{subject}</BidiText>}
    lead={
      <>
        To <BidiText>{to}</BidiText>
      </>
    }
    wide
  >
    <iframe
      class="mail"
      src={`/dev/inbox/${id}/html`}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      title="The mail as HTML"
    />
    <h2>The mail as text</h2>
    <div class="message">
      <MessageBody body={body} />
    </div>
    <a class="button secondary" href={`/dev/inbox?to=${encodeURIComponent(to)}`}>
      Back to the inbox
    </a>
  </PageShell>
)
