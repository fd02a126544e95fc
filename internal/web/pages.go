package web

// pages returns all pages, those with a title in the order of the navigation.
func pages() []*Page {
	return []*Page{
		nowPage, queuePage, machinesPage, usagePage, policyPage, poolPage, jobPage, logPage, nodePage, actPage,
		submitPage, drainPage, resumePage, reservePage, unreservePage, editPage, weightsPage, applyPage, rollbackPage,
	}
}
