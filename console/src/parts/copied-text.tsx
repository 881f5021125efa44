import { type ReactNode, useState } from 'react'
import { t } from '../words/words.ts'
import { notify } from './notices.tsx'

const SHOWN_MS = 1500

/** Copies a text. The clipboard is missing where the page is not loaded over https; the document copies there. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    // A modal dialog makes everything beside it inert.
    const parent = document.querySelector('dialog[open]') ?? document.body
    parent.append(field)
    field.select()
    const isCopied = document.execCommand('copy')
    field.remove()
    if (!isCopied) throw new Error(t('The browser does not permit to copy: select the text instead.'))
  }
}

/** A button that copies a text, and says so. */
export function CopyButton({
  text,
  className,
  label,
  children,
}: {
  text: string
  className: string
  label?: string
  children: ReactNode
}) {
  const [isCopied, setIsCopied] = useState(false)
  return (
    <button
      type="button"
      className={className}
      title={t('Copy')}
      aria-label={label}
      onClick={() =>
        void copyText(text).then(
          () => {
            setIsCopied(true)
            setTimeout(() => setIsCopied(false), SHOWN_MS)
          },
          ({ message }: Error) => notify(message),
        )
      }
    >
      {children}
      <span role="status">{isCopied ? t('Copied') : ''}</span>
    </button>
  )
}

/** A text such as an id, which a click copies. */
export const CopiedText = ({ text }: { text: string }) => (
  <CopyButton text={text} className="copied-text">
    <code>{text}</code>
  </CopyButton>
)
