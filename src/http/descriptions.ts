import type { ToolSummary } from '../../schemas/api/descriptors.ts'
import type { Catalog, Offer } from '../services/catalog/catalog.ts'
import type { Presenter } from '../services/runs/present.ts'
import { llmsText } from './llms-text.ts'
import { describeMcp } from './mcp-descriptor.ts'
import { describeApi } from './openapi/document.ts'
import type { Operation } from './operation.ts'
import { StaticBody } from './static-body.ts'

/** What is told of, beside the models. */
export interface Described {
  /** All that can be asked for. */
  operations: Operation[]
  tools: ToolSummary[]
  publicUrl(): string
}

interface Parts extends Described {
  catalog: Catalog
  present: Presenter
}

export type Bodies = Record<'openApi' | 'llmsText' | 'mcp', StaticBody>

/**
 * What programs read of the service. It is written anew only when the catalog or the address has changed: that takes longer than
 * all the rest of a request.
 */
export class Descriptions {
  readonly #parts: Parts
  #last: { key: string; bodies: Bodies } | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async bodies(): Promise<Bodies> {
    const baseUrl = this.#parts.publicUrl()
    const offers = await this.#parts.catalog.list(false)
    const key = [baseUrl, ...offers.map(({ family, revision }) => `${family.id} ${revision}`)].join()
    if (this.#last?.key !== key) this.#last = { key, bodies: this.#describe(baseUrl, offers) }
    return this.#last.bodies
  }

  #describe(baseUrl: string, offers: Offer[]): Bodies {
    const { operations, tools, present } = this.#parts
    const families = offers.map(({ family, status }) => present.family(family, status))
    return {
      openApi: new StaticBody('application/json', JSON.stringify(describeApi(operations, { baseUrl, families }))),
      llmsText: new StaticBody('text/plain', llmsText({ baseUrl, operations, families, tools })),
      mcp: new StaticBody('application/json', JSON.stringify(describeMcp(baseUrl, tools))),
    }
  }
}
