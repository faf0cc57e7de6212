import type { Route } from './route.ts'
import { auditRoutes } from './routes/audit.ts'
import { balanceRoutes } from './routes/balance.ts'
import { budgetRoutes } from './routes/budgets.ts'
import { callbackRoutes } from './routes/callbacks.ts'
import { cdnRoutes } from './routes/cdn.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { descriptorRoutes } from './routes/descriptors.ts'
import { healthRoutes } from './routes/health.ts'
import { keyRoutes } from './routes/keys.ts'
import { ledgerRoutes } from './routes/ledger.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { modelRoutes } from './routes/models.ts'
import { noticeRoutes } from './routes/notices.ts'
import { openAiRoutes } from './routes/openai/routes.ts'
import { packRoutes } from './routes/packs.ts'
import { proofRoutes } from './routes/proofs.ts'
import { purchaseRoutes } from './routes/purchases.ts'
import { runEventRoutes } from './routes/run-events.ts'
import { runRoutes } from './routes/runs.ts'
import { sealRoutes } from './routes/seals.ts'
import { topUpRoutes } from './routes/top-up.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { usageRoutes } from './routes/usage.ts'
import { webhookRoutes } from './routes/webhooks.ts'

/** The routes of processes that answer the API, in the order of the OpenAPI document. */
export const apiRoutes: Route[] = [
  ...modelRoutes,
  ...runRoutes,
  ...runEventRoutes,
  ...openAiRoutes,
  ...balanceRoutes,
  ...packRoutes,
  ...purchaseRoutes,
  ...topUpRoutes,
  ...keyRoutes,
  ...budgetRoutes,
  ...noticeRoutes,
  ...proofRoutes,
  ...ledgerRoutes,
  ...usageRoutes,
  ...sealRoutes,
  ...uploadRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...cdnRoutes,
  ...auditRoutes,
  ...mcpRoutes,
  ...descriptorRoutes,
]

/** All routes that the OpenAPI document describes. */
export const routes = [...apiRoutes, ...healthRoutes, ...callbackRoutes]
